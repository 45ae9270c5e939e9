import { type JsonObject, objectAt } from '../harness/json.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: JsonObject;
}

/** An operation in the document, with its references resolved. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** With its parameters in braces. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** A JSON body's schema. */
  readonly body: JsonObject | undefined;
  /** Whether it also takes multipart forms. */
  readonly takesForm: boolean;
  /** Where the document has each answer, by status. */
  readonly answers: ReadonlyMap<string, AnswerPlace>;
}

interface AnswerPlace {
  /** By content type, the schema's JSON pointer as a list. */
  readonly schemas: ReadonlyMap<string, readonly string[]>;
}

/** Returns every operation in an OpenAPI document. */
export const operationsOf = (document: unknown): Operation[] =>
  Object.entries(objectAt(document, 'paths')).flatMap(([path, item]) =>
    Object.entries(item as JsonObject).map(([method, operation]) =>
      read(document, path, method, operation as JsonObject),
    ),
  );

function read(document: unknown, path: string, method: string, operation: JsonObject): Operation {
  const given = find(operation, ['requestBody', 'content', 'application/json', 'schema']) as JsonObject | undefined;
  const body = given && (target(document, given)?.value ?? given);
  const here = ['paths', path, method, 'responses'];
  return {
    id: String(operation.operationId),
    method: method.toUpperCase(),
    path,
    parameters: ((operation.parameters ?? []) as JsonObject[]).map((parameter) =>
      readParameter(target(document, parameter)?.value ?? parameter),
    ),
    body,
    takesForm: find(operation, ['requestBody', 'content', 'multipart/form-data']) !== undefined,
    answers: new Map(
      Object.entries(operation.responses as JsonObject).map(([status, answer]) => [
        status,
        placeOf(document, answer as JsonObject, [...here, status]),
      ]),
    ),
  };
}

const readParameter = ({ name, in: place, required, schema }: JsonObject): Parameter => ({
  name: String(name),
  in: String(place),
  required: required === true,
  schema: schema as JsonObject,
});

function placeOf(document: unknown, answer: JsonObject, pointer: readonly string[]): AnswerPlace {
  const { value, pointer: there } = target(document, answer) ?? { value: answer, pointer };
  const content = (value.content ?? {}) as JsonObject;
  return { schemas: new Map(Object.keys(content).map((type) => [type, [...there, 'content', type, 'schema']])) };
}

function target(document: unknown, { $ref }: JsonObject) {
  if (typeof $ref !== 'string') return undefined;
  const pointer = $ref.slice(2).split('/');
  return { pointer, value: find(document, pointer) as JsonObject };
}

/** Returns the value at a pointer. */
export const find = (value: unknown, pointer: readonly string[]): unknown =>
  pointer.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? (inner as JsonObject)[name] : undefined),
    value,
  );
