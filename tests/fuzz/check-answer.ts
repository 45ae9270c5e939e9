import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Answer } from '../harness/client.ts';
import type { Operation } from './operations.ts';

interface AskedOperation {
  readonly operation: Operation;
  /** May the request not even have come to the operation? */
  readonly isTwisted?: boolean;
}

/** Says what is wrong with an answer, by the document; undefined for one that is as it should be. */
export type FindProblem = (request: AskedOperation, answer: Answer) => string | undefined;

/** Makes the check of answers by what a document declares. */
export function createFindProblem(document: object): FindProblem {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'openapi');
  const compiled = new Map<string, ValidateFunction>();

  function validatorAt(pointer: readonly string[]): ValidateFunction {
    const fragment = pointer
      .map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const known = compiled.get(fragment) ?? ajv.compile({ $ref: `openapi#/${fragment}` });
    compiled.set(fragment, known);
    return known;
  }

  const refusal = { schemas: new Map([['application/json', ['components', 'schemas', 'Error']]]) };

  return ({ operation, isTwisted = false }, { status, headers, text, json }) => {
    const isRefused = isTwisted && status >= 400 && status < 500;
    const declared = operation.answers.get(String(status)) ?? (isRefused ? refusal : undefined);
    if (!declared) return `the status ${status} is not declared: ${text.slice(0, 300)}`;
    if (typeof headers['x-request-id'] !== 'string') return 'the answer has no request id';
    const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
    const pointer = declared.schemas.get(type) ?? declared.schemas.get('*/*');
    if (!pointer)
      return text === '' && declared.schemas.size === 0 ? undefined : `a body of ${type} is not declared for ${status}`;
    if (type !== 'application/json') return undefined;
    const validate = validatorAt(pointer);
    return validate(json) ? undefined : `${ajv.errorsText(validate.errors)} in ${status} ${text.slice(0, 600)}`;
  };
}
