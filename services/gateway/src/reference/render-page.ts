import type { OpenApiDocument } from '@recordbus/openapi';
import type { JsonSchema } from '@recordbus/shared/http';
import { describeSchema, targetOf } from './describe-schema.ts';
import { escapeHtml } from './html.ts';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters: readonly JsonSchema[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, JsonSchema>>;
}

type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>;

/** Renders the document as the parts of an HTML page. It loads one style sheet and one script, both from this site. */
export function* pageParts(document: OpenApiDocument): Generator<string> {
  const links = document.tags.map(({ name }) => `<a href="#${escapeHtml(name)}">${escapeHtml(name)}</a>`);
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Recordbus API</title>
<link rel="stylesheet" href="/docs/reference.css">
<script src="/docs/reference.js" defer></script>
</head>
<body>
<nav aria-label="Subjects">${links.join('')}</nav>
<main>
<h1>Recordbus API <small>${escapeHtml(String(document.info.version))}</small></h1>
<p>Success is <code>{"data": …}</code>, a refusal <code>{"error", "code", "details"}</code>. The same as data:
<a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</p>
<form hidden><label>Token <input type="password" autocomplete="off" placeholder="of an admin: shows all collections"></label>
<button>Show</button></form>
`;
  const operations = operationsByTag(document);
  for (const { name, description } of document.tags) {
    yield `<section id="${escapeHtml(name)}"><h2>${escapeHtml(name)}</h2><p>${escapeHtml(description)}</p>`;
    for (const { path, method, operation } of operations.get(name) ?? [])
      yield renderOperation(document, method, path, operation);
    yield '</section>\n';
  }
  yield `</main>
</body>
</html>
`;
}

interface PlacedOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

function operationsByTag({ paths }: OpenApiDocument): ReadonlyMap<string, readonly PlacedOperation[]> {
  const found = new Map<string, PlacedOperation[]>();
  for (const [path, item] of Object.entries(paths))
    for (const [method, described] of Object.entries(item)) {
      const operation = described as Operation;
      for (const tag of operation.tags) {
        const ofTag = found.get(tag) ?? [];
        found.set(tag, ofTag);
        ofTag.push({ path, method, operation });
      }
    }
  return found;
}

function renderOperation(document: OpenApiDocument, method: string, path: string, operation: Operation): string {
  const { operationId, summary, description = '', security, requestBody, responses } = operation;
  const parameters = operation.parameters.map((parameter) => resolve(document, parameter));
  const callers = security.map((needed) => Object.keys(needed)[0] ?? 'anyone').join(', ');
  const parts = [
    `<p>${escapeHtml(description)} For ${escapeHtml(callers)}.</p>`,
    parameters.length > 0 ? `<h4>Parameters</h4><ul>${parameters.map(renderParameter).join('')}</ul>` : '',
    requestBody ? `<h4>Body</h4>${renderContent(document, requestBody.content)}` : '',
    '<h4>Answers</h4>',
    ...Object.entries(responses).map(([status, response]) => {
      const { description: about, content = {} } = resolve(document, response);
      const body = status < '3' ? renderContent(document, content as Content) : '';
      return `<p><b>${escapeHtml(status)}</b> ${escapeHtml(String(about))}</p>${body}`;
    }),
  ];
  const title = `<b class="${escapeHtml(method)}">${escapeHtml(method.toUpperCase())}</b> <code>${escapeHtml(path)}</code>`;
  return `<details id="${escapeHtml(operationId)}"><summary>${title} ${escapeHtml(summary)}</summary>${parts.join('')}</details>`;

  function renderParameter({ name, in: place, required, description: about = '', schema }: JsonSchema): string {
    const kind = `<span class="type">${escapeHtml(String(place))}${required ? '' : ', optional'}</span>`;
    const text = escapeHtml(String(about));
    return `<li><code>${escapeHtml(String(name))}</code> ${kind} ${describeSchema(document, schema as JsonSchema)} ${text}</li>`;
  }
}

const renderContent = (document: OpenApiDocument, content: Content): string =>
  Object.entries(content)
    .map(
      ([type, { schema = {} }]) =>
        `<div class="body"><i>${escapeHtml(type)}</i> ${describeSchema(document, schema)}</div>`,
    )
    .join('');

const resolve = (document: OpenApiDocument, part: JsonSchema): JsonSchema =>
  typeof part.$ref === 'string' ? targetOf(document, part.$ref) : part;
