import type { Principal } from '@recordbus/request/context';
import { readDateValue } from '@recordbus/text/date-text';
import { readBool, readDate, readNumber } from '../resolve/literal.ts';
import type { RequestPart, RequestValue } from '../resolve/resolved.ts';
import { readJson, readText } from './storable-value.ts';

/** What rules can read about the caller (rules §4.1). */
interface RequestAuth {
  readonly id: string;
  /** A service key has none. */
  readonly email?: string;
  readonly type: 'user' | 'admin' | 'service';
  /** The user's collection name; an admin has none. */
  readonly collection?: string;
  /** Whether the user's address is proved. */
  readonly verified?: boolean | undefined;
  /** The factors of the session's sign-in. Only users have them. */
  readonly factors?: readonly string[];
  /** When the sign-in happened, in unix seconds; null for a session without one. */
  readonly signed_in_at?: number | null;
}

/** What rules can read from a request (rules §4.2). */
export interface RequestValues {
  /** HTTP method, in capitals. */
  readonly method: string;
  /** Undefined for a guest. */
  readonly auth: RequestAuth | undefined;
  /** The body as the client sent it, when there is one. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** A query parameter's value. */
  query(name: string): string | undefined;
  /** A header's value, by its name in lower case with hyphens. */
  header(name: string): string | undefined;
}

/** Returns the caller as rules see it; undefined for a guest. */
export function authOf(principal: Principal): RequestAuth | undefined {
  if (principal.type === 'guest') return undefined;
  if (principal.type === 'service') return { id: principal.id, type: principal.type };
  const { id, email, type } = principal;
  if (principal.type === 'admin') return { id, email, type };
  const { collection, verified, factors = [], signedInAtSec = null } = principal;
  return { id, email, type, collection, verified, factors, signed_in_at: signedInAtSec };
}

/** Finds a request value; undefined when the request lacks it. */
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
 * Reads a request value as the comparison's kind, ready for the database. Null for a value that the request lacks and
 * for one that cannot be read as that kind; `isMissing` tells which.
 */
export function readRequestValue({ part, path, kind }: RequestValue, request: RequestValues): unknown {
  const value = findRequestValue(part, path, request) ?? null;
  return value === null ? null : (readers[kind](value) ?? null);
}

/** Whether the value is missing or null. */
export const isMissing = (part: RequestPart, path: readonly string[], request: RequestValues): boolean =>
  (findRequestValue(part, path, request) ?? null) === null;

const readers: Readonly<Record<RequestValue['kind'], (value: unknown) => unknown>> = {
  text: (value) => readText(scalarText(value)),
  number: (value) => (typeof value === 'string' ? readNumber(value) : isNumber(value) ? value : undefined),
  date: readSeconds,
  bool: (value) => readBool(scalarText(value)),
  list: (value) => readJson(Array.isArray(value) ? value : [value]),
  json: readJson,
};

/** A value's text; an array or an object has none. */
const scalarText = (value: unknown): string | undefined => (typeof value === 'object' ? undefined : String(value));

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Whole seconds, as a write stores them. */
function readSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? readDate(value) : readDateValue(value);
  return typeof seconds === 'number' ? Math.floor(seconds) : undefined;
}
