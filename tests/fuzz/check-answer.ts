import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Answer } from '../harness/clients/client.ts';
import type { Operation } from './operations.ts';

interface SentRequest {
  readonly operation: Operation;
  /** With its query. */
  readonly path?: string;
  /** Whether the request may be refused before it reaches the operation. */
  readonly isMutated?: boolean;
}

/** Writes any validator's errors. */
const texts = new Ajv2020();

/** How the schema library's own messages begin, which no client gets (http §4.3). */
export const wordsOfLibrary =
  /Invalid (input|option|string|number|discriminator|key|value|UUID|URL|email)|Too (small|big): |Unrecognized key|expected \w+, received/;

/** Returns how an answer differs from the document; undefined where it does not. */
export type FindProblem = (request: SentRequest, answer: Answer) => string | undefined;

/** Creates the function that checks answers against a document. */
export function createFindProblem(document: object): FindProblem {
  const validatorAt = createValidators(document);
  const validatorOfChosen = createValidators(withoutRequiredFields(document));
  const refusal = { schemas: new Map([['application/json', ['components', 'schemas', 'Error']]]) };

  return ({ operation, path = '', isMutated = false }, { status, headers, text, json }) => {
    const isRefused = isMutated && status >= 400 && status < 500;
    const declared = operation.answers.get(String(status)) ?? (isRefused ? refusal : undefined);
    if (!declared) return `the status ${status} is not declared: ${text.slice(0, 300)}`;
    if (typeof headers['x-request-id'] !== 'string') return 'the answer has no request id';
    if (status >= 400 && wordsOfLibrary.test(text)) return `the schema library's words: ${text.slice(0, 600)}`;
    const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
    const pointer = declared.schemas.get(type) ?? declared.schemas.get('*/*');
    if (!pointer)
      return text === '' && declared.schemas.size === 0 ? undefined : `a body of ${type} is not declared for ${status}`;
    if (type !== 'application/json') return undefined;
    // The parameter `fields` omits the members that it does not name (records §11).
    const validate = (path.includes('fields=') ? validatorOfChosen : validatorAt)(pointer);
    return validate(json) ? undefined : `${texts.errorsText(validate.errors)} in ${status} ${text.slice(0, 600)}`;
  };
}

/** Returns a schema's validator by its path in the document. */
function createValidators(document: object): (pointer: readonly string[]) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'openapi');
  const compiled = new Map<string, ValidateFunction>();

  return (pointer) => {
    const fragment = pointer
      .map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const known = compiled.get(fragment) ?? ajv.compile({ $ref: `openapi#/${fragment}` });
    compiled.set(fragment, known);
    return known;
  };
}

/** The document with records in which only the id is required. */
function withoutRequiredFields(document: object): object {
  const copy = structuredClone(document) as { components: { schemas: Record<string, { required?: string[] }> } };
  for (const [name, schema] of Object.entries(copy.components.schemas))
    if (name.endsWith('.record')) schema.required = ['id'];
  return copy;
}
