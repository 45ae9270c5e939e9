import type { Operation } from '../fuzz/operations.ts';
import type { Known } from '../fuzz/requests.ts';
import type { Sending } from '../harness/clients/client.ts';
import { multipart } from '../harness/clients/multipart.ts';
import type { JsonObject } from '../harness/json.ts';
import { userCollection } from '../harness/stacks/stack.ts';
import { fittingValue, targetOf, textPlaces, withValueAt } from './places.ts';
import { hostileTexts, hostileValues } from './texts.ts';

/** One request with one hostile text in it. */
export interface HostileRequest extends Sending {
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

/** Makes a request. Most requests are not sent, and each has up to 2 MB. */
export type Draft = () => HostileRequest;

/** How many characters a text has. A place gets twenty texts, 2 MB in all; quadratic code takes seconds for one. */
const textLength = 100_000;
/** How many characters a body has; a JSON body may have 1 MiB. */
const bodyLength = 1_000_000;

/** Encodes only the characters that a URL cannot hold, as a careless client does. */
const inUrl = (text: string): string =>
  text.toWellFormed().replace(/[^\x21-\x7e]|["<>\\#&+[\]]/g, (character) => encodeURIComponent(character));

// Thousands of places get the same texts. Making and encoding them for each place took most of the test's time.
const texts = hostileTexts(textLength).map(({ name, text }) => ({
  name,
  text,
  encoded: inUrl(text).slice(0, textLength),
  json: JSON.stringify(text),
}));
const values = hostileValues(textLength);
const bodies = hostileValues(bodyLength);
const longTexts = hostileTexts(bodyLength);
const filenameTexts = hostileTexts(60_000);

const headers = [
  'Accept',
  'Accept-Encoding',
  'Authorization',
  'Content-Type',
  'Cookie',
  'Forwarded',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Origin',
  'Prefer',
  'Range',
  'Traceparent',
  'User-Agent',
  'X-Forwarded-For',
  'X-Request-Id',
];

const headerTexts = texts.filter(({ text }) => /^[\x21-\x7e]/.test(text) && /^[\x20-\x7e]*$/.test(text));

/** Requests to an operation with a hostile text in each header. The gateway reads all operations' headers alike. */
export const withHostileHeaders = (operation: Operation, known: Known): Draft[] =>
  headers.flatMap((header) =>
    headerTexts.map(({ name, text }) => () => ({
      name: `${operation.id}, header ${header}: ${name}`,
      method: operation.method,
      path: targetOf(operation, valuesOf(operation, known)),
      headers: { [header]: text },
    })),
  );

/** Requests to an operation with a hostile text in each place in its path, its query, its body and its form. */
export function* hostileRequests(document: unknown, operation: Operation, known: Known): Generator<Draft> {
  const parameters = valuesOf(operation, known);
  const { method, id } = operation;
  for (const { name: parameter, in: place } of operation.parameters) {
    if (place === 'header') continue;
    for (const { name, encoded } of texts) {
      const isInPath = place === 'path';
      yield () => ({
        name: `${id}, ${place} ${parameter}: ${name}`,
        method,
        path: targetOf(
          operation,
          isInPath ? { ...parameters, [parameter]: encoded } : parameters,
          isInPath ? {} : { [parameter]: encoded },
        ),
      });
    }
  }
  if (!operation.body) return;
  const path = targetOf(operation, parameters);
  const sent = (make: () => Named) => (): HostileRequest => {
    const { name, ...sending } = make();
    return { name: `${id}, ${name}`, method, path, ...sending };
  };
  for (const make of bodiesOf(document, operation.body)) yield sent(make);
  if (!operation.takesForm) return;
  for (const make of formsOf(document, operation.body)) yield sent(make);
}

const subscription = (member: string, text: string) =>
  member === 'sort'
    ? { collection: 'everything', snapshot: { sort: text } }
    : { collection: 'everything', [member]: text };

/** Subscriptions to a collection that exists, with a hostile text in each member. */
export const hostileSubscriptions = (): HostileRequest[] =>
  ['id', 'record', 'filter', 'expand', 'fields', 'sort', 'after'].flatMap((member) =>
    texts.map(({ name, text }) => ({
      name: `subscription, ${member}: ${name}`,
      method: 'POST',
      path: '/api/v1/realtime',
      body: { subscriptions: [subscription(member, text)] },
    })),
  );

/** CSV and NDJSON imports, `rowsLength` characters long, that are expensive for careless readers. */
export const hostileImports = (rowsLength: number): HostileRequest[] =>
  [
    ['csv', 'empty cells', `code\n${','.repeat(rowsLength)}`],
    ['csv', 'short lines', `code\n${'a\n'.repeat(rowsLength / 2)}`],
    ['csv', 'empty lines', `code\n${'\n'.repeat(rowsLength)}`],
    ['csv', 'lines of empty cells', `code\n${`${','.repeat(9000)}\n`.repeat(rowsLength / 9000)}`],
    ['csv', 'quotes', `code\n"${'""'.repeat(rowsLength / 2)}`],
    ['csv', 'a header of many columns', `${'code,'.repeat(rowsLength / 5)}\n`],
    ['csv', 'nested lists in cells', `meta\n${`${'['.repeat(100_000)}\n`.repeat(rowsLength / 100_000)}`],
    ['ndjson', 'empty lines', '\n'.repeat(rowsLength)],
    ['ndjson', 'empty objects', '{}\n'.repeat(rowsLength / 3)],
    ['ndjson', 'nested lists', `{"meta":${'['.repeat(100_000)}\n`.repeat(rowsLength / 100_000)],
    ['json', 'empty objects', `[${'{},'.repeat(rowsLength / 3)}{}]`],
    ['json', 'spaces', `[${' '.repeat(rowsLength)}]`],
  ].map(([format = '', name, rawBody = '']) => ({
    name: `import of ${format}: ${name}`,
    method: 'POST',
    path: `/api/v1/records/everything/import?dry_run=1&format=${format}`,
    headers: { 'Content-Type': 'application/octet-stream' },
    rawBody,
  }));

function valuesOf({ path, parameters }: Operation, known: Known): Record<string, string> {
  const values = parameters.flatMap(({ name }) => (known[name]?.[0] === undefined ? [] : [[name, known[name][0]]]));
  return { ...Object.fromEntries(values), ...(path.startsWith('/api/v1/auth/') && { collection: userCollection }) };
}

type Named = Sending & { readonly name: string };

const inJson = { 'Content-Type': 'application/json' };

function* bodiesOf(document: unknown, schema: JsonObject): Generator<() => Named> {
  const fitting = fittingValue(document, schema);
  const bodyOf = (name: string, rawBody: string): Named => ({ name, headers: inJson, rawBody });
  for (const place of textPlaces(document, schema)) {
    const about = `body ${place.join('.')}`;
    const withText = JSON.stringify(withValueAt(fitting, place, '@here'));
    for (const [name, json] of [...texts.map((text) => [text.name, text.json] as const), ...values])
      yield () =>
        bodyOf(
          `${about}: ${name}`,
          withText.replace('"@here"', () => json),
        );
  }
  for (const [name, rawBody] of bodies) yield () => bodyOf(`body: ${name}`, rawBody);
  yield () => bodyOf('body: a long name', JSON.stringify({ ['a'.repeat(bodyLength)]: 1 }));
}

/** A form has 2 MB of text: one field in two parts. */
function* formsOf(document: unknown, schema: JsonObject): Generator<() => Named> {
  const fields = new Set(textPlaces(document, schema).map(([field]) => String(field)));
  for (const field of [...fields, '_json'])
    for (const { name, text } of longTexts)
      yield () => {
        const part = { name: field, content: text };
        return { name: `form ${field}: ${name}`, ...multipart(part, part) };
      };
  for (const { name, text } of filenameTexts)
    yield () => {
      const filename = `${text.replaceAll('"', '%22')}.png`;
      return { name: `name of a file: ${name}`, ...multipart({ name: 'photo', filename, content: 'x' }) };
    };
  const headers = { 'Content-Type': `multipart/form-data; boundary=${'a'.repeat(60_000)}b` };
  yield () => ({ name: 'boundary', headers, rawBody: 'a'.repeat(2_000_000) });
}
