import type { Principal } from '@recordbus/shared/context';
import { readBool, readDate, readNumber } from './literal.ts';
import type { RequestPart, RequestValue } from './resolved.ts';
import { readJson, readText } from './storable-value.ts';

/** What rules can ask of a request. */
export interface RequestValues {
  /** HTTP method, in capitals. */
  readonly method: string;
  /** Undefined for a guest. */
  readonly auth: { readonly id: string; readonly email: string; readonly type: 'user' | 'admin' } | undefined;
  /** The body as the client sent it, when there is one. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** The value of a query parameter. */
  query(name: string): string | undefined;
  /** The value of a header, by its name in lower case with hyphens. */
  header(name: string): string | undefined;
}

/** Who calls, as rules see it. */
export const authOf = (principal: Principal): RequestValues['auth'] =>
  principal.type === 'guest' ? undefined : { id: principal.id, email: principal.email, type: principal.type };

/** Finds what a request brought; undefined when it did not. */
export function findRequestValue(part: RequestPart, path: readonly string[], request: RequestValues): unknown {
  const [name = '', ...keys] = path;
  switch (part) {
    case 'method':
      return request.method;
    case 'auth':
      return findMember(request.auth, name);
    case 'query':
      return request.query(name);
    case 'headers':
      return request.header(name.replaceAll('_', '-'));
    case 'body':
      return [name, ...keys].reduce<unknown>(findMember, request.body);
  }
}

const findMember = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/**
 * Reads what a request brought as the kind that the comparison asks for, ready for the database; null for what it did
 * not bring or what can't be read so. `isMissing` tells these two apart.
 */
export function readRequestValue({ part, path, kind }: RequestValue, request: RequestValues): unknown {
  const value = findRequestValue(part, path, request) ?? null;
  return value === null ? null : (readers[kind](value) ?? null);
}

/** Is there nothing, or null? */
export const isMissing = (part: RequestPart, path: readonly string[], request: RequestValues): boolean =>
  (findRequestValue(part, path, request) ?? null) === null;

const readers: Readonly<Record<RequestValue['kind'], (value: unknown) => unknown>> = {
  text: (value) => readText(scalarText(value)),
  number: (value) => (typeof value === 'string' ? readNumber(value) : isNumber(value) ? value : undefined),
  date: (value) => floorSeconds(typeof value === 'string' ? readDate(value) : value),
  bool: (value) => readBool(scalarText(value)),
  list: (value) => readJson(Array.isArray(value) ? value : [value]),
  json: readJson,
};

/** The text of a value; an array or an object has none. */
const scalarText = (value: unknown): string | undefined => (typeof value === 'object' ? undefined : String(value));

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** The column holds whole seconds, and so do writes. */
const floorSeconds = (value: unknown): number | undefined =>
  isNumber(value) && Number.isSafeInteger(Math.floor(value)) ? Math.floor(value) : undefined;
