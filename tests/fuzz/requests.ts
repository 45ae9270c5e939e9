import fc from 'fast-check';
import type { JsonObject } from '../harness/json.ts';
import { anyText, arbitraryOf } from './arbitrary-of.ts';
import { bodyOf } from './bodies.ts';
import { mutations } from './mutations.ts';
import type { Operation } from './operations.ts';

export type Caller = 'guest' | 'user' | 'admin' | 'impostor';

/** A request to one operation, ready to be sent. */
export interface FuzzRequest {
  readonly operation: Operation;
  readonly as: Caller;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** The body's bytes. */
  readonly body: string | Uint8Array | undefined;
  /** Whether the request may be refused before it reaches the operation: any refusal is accepted then. */
  readonly isMutated: boolean;
}

/** Values that exist in the running stack, by the parameter that takes them. */
export type Known = Readonly<Record<string, readonly string[]>>;

/** A run's operations and the values for them. */
interface FuzzPlan {
  readonly document: unknown;
  readonly operations: readonly Operation[];
  readonly known: Known;
  /** Operations that would delete what the others use. They get no existing values. */
  readonly destructive: ReadonlySet<string>;
}

/** How many in a hundred values break their schema: none in most requests, a few in some. */
const refusals = fc.constantFrom(0, 0, 8);

/** How many optional parameters one request's query has at most. */
const maxQuery = 3;

/** Requests to any operation; most match the document, some do not. */
export const requestTo = (plan: FuzzPlan): fc.Arbitrary<FuzzRequest> =>
  fc
    .tuple(fc.constantFrom(...plan.operations), refusals)
    .chain(([operation, refuse]) => requestOf(plan, operation, refuse));

function requestOf({ document, known, destructive }: FuzzPlan, operation: Operation, refuse: number) {
  const named = (place: string) => operation.parameters.filter((parameter) => parameter.in === place);
  const knownOf = (name: string) => (destructive.has(operation.id) ? [] : (known[name] ?? []));
  const make = (schema: JsonObject) => arbitraryOf(document, schema, refuse);
  const inPath = fc.record(
    Object.fromEntries(named('path').map(({ name, schema }) => [name, pathValue(make(schema), knownOf(name))])),
  );
  const inQuery = fc
    .subarray(named('query'), { maxLength: Math.min(maxQuery, named('query').length) })
    .chain((chosen) => {
      const sent = [...new Set([...named('query').filter(({ required }) => required), ...chosen])];
      return fc.record(Object.fromEntries(sent.map(({ name, schema }) => [name, queryValue(make(schema))])));
    });
  const headers = fc.record(Object.fromEntries(named('header').map(({ name }) => [name, headerValue])), {
    requiredKeys: [],
  });
  return fc
    .record({
      as: fc.constantFrom<Caller>('guest', 'user', 'admin', 'admin', 'impostor'),
      inPath,
      inQuery,
      headers,
      body: bodyOf(operation, operation.body && make(operation.body)),
      mutation: fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, mutations),
    })
    .map(
      ({ as, inPath: values, inQuery: query, headers: given, body, mutation }): FuzzRequest => ({
        operation,
        as,
        method: operation.method,
        path:
          operation.path.replace(
            /\{([^}]+)\}/g,
            (_, name: string) => mutation?.segment ?? segment(values[name] ?? ''),
          ) + withMutation(queryText(query), mutation?.query),
        headers: { ...given, ...(body && { 'Content-Type': body.type }), ...mutation?.headers },
        body: body?.content,
        isMutated: mutation !== undefined,
      }),
    );
}

const pathValue = (fitting: fc.Arbitrary<unknown>, known: readonly string[]): fc.Arbitrary<string> => {
  const made = fc.oneof(fitting.map(String), anyText);
  return known.length === 0 ? made : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, made);
};

/** Texts that mean something in a filter, a sort, a page or a vector search. */
const queryTexts = fc.constantFrom(
  'id',
  '-created',
  'title = "a"',
  'title ~ "x" && n > 1',
  '(',
  '[1,0,0]',
  'embedding',
  '1',
  '-7',
);

const queryValue = (fitting: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 4, arbitrary: fitting.map(String) }, { weight: 2, arbitrary: queryTexts }, anyText);

const headerValue = fc.oneof(
  fc.constantFrom('*', 'W/"1"', '"x", W/"1767225600"', 'bytes=0-1', 'bytes=9-', 'a'.repeat(300)),
  fc.string({ unit: 'grapheme-ascii', maxLength: 40 }).map((text) => text.trim() || 'x'),
);

const withMutation = (query: string, more: string | undefined): string =>
  more === undefined ? query : `${query === '' ? '?' : `${query}&`}${more}`;

/** The value as one path segment: neither empty nor `.` nor `..`. */
function segment(value: string): string {
  const encoded = encodeURIComponent(value.toWellFormed());
  return encoded === '' || encoded === '.' || encoded === '..' ? 'x' : encoded;
}

function queryText(values: JsonObject): string {
  const text = new URLSearchParams(values as Record<string, string>).toString();
  return text === '' ? '' : `?${text}`;
}
