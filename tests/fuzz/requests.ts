import fc from 'fast-check';
import type { JsonObject } from '../harness/json.ts';
import { anyText, arbitraryOf } from './arbitrary-of.ts';
import { bodyOf } from './bodies.ts';
import type { Operation } from './operations.ts';
import { twists } from './twists.ts';

export type Caller = 'guest' | 'user' | 'admin' | 'impostor';

/** A request to one operation, ready to be sent. */
export interface FuzzRequest {
  readonly operation: Operation;
  readonly as: Caller;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** The body as it is sent. */
  readonly body: string | Uint8Array | undefined;
  /** Is it one that may not even come to the operation? Then any refusal will do. */
  readonly isTwisted: boolean;
}

/** What stands in the running system, by the name of the parameter that may ask for it. */
export type Known = Readonly<Record<string, readonly string[]>>;

/** What is sent to which operations. */
interface FuzzPlan {
  readonly document: unknown;
  readonly operations: readonly Operation[];
  readonly known: Known;
  /** Operations that would take away what the others work with: they are not told what is there. */
  readonly destructive: ReadonlySet<string>;
}

/** Values of every hundred that are not what the schema asks for: in most requests none, in some a few. */
const refusals = fc.constantFrom(0, 0, 8);

/** Parameters of a query that one request has. */
const maxQuery = 3;

/** Requests to any of the operations, most of them as the document says they should be, some of them not. */
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
      const asked = [...new Set([...named('query').filter(({ required }) => required), ...chosen])];
      return fc.record(Object.fromEntries(asked.map(({ name, schema }) => [name, queryValue(make(schema))])));
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
      twist: fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, twists),
    })
    .map(
      ({ as, inPath: values, inQuery: query, headers: given, body, twist }): FuzzRequest => ({
        operation,
        as,
        method: operation.method,
        path:
          operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => twist?.segment ?? segment(values[name] ?? '')) +
          withTwist(queryText(query), twist?.query),
        headers: { ...given, ...(body && { 'Content-Type': body.type }), ...twist?.headers },
        body: body?.content,
        isTwisted: twist !== undefined,
      }),
    );
}

const pathValue = (fitting: fc.Arbitrary<unknown>, known: readonly string[]): fc.Arbitrary<string> => {
  const made = fc.oneof(fitting.map(String), anyText);
  return known.length === 0 ? made : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, made);
};

/** What means something in one of the languages that a query may be written in. */
const spoken = fc.constantFrom(
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
  fc.oneof({ weight: 4, arbitrary: fitting.map(String) }, { weight: 2, arbitrary: spoken }, anyText);

const headerValue = fc.oneof(
  fc.constantFrom('*', 'W/"1"', '"x", W/"1767225600"', 'bytes=0-1', 'bytes=9-', 'a'.repeat(300)),
  fc.string({ unit: 'grapheme-ascii', maxLength: 40 }).map((text) => text.trim() || 'x'),
);

const withTwist = (query: string, more: string | undefined): string =>
  more === undefined ? query : `${query === '' ? '?' : `${query}&`}${more}`;

/** A segment that stays one: neither empty nor one that names a place. */
function segment(value: string): string {
  const encoded = encodeURIComponent(value.toWellFormed());
  return encoded === '' || encoded === '.' || encoded === '..' ? 'x' : encoded;
}

function queryText(values: JsonObject): string {
  const text = new URLSearchParams(values as Record<string, string>).toString();
  return text === '' ? '' : `?${text}`;
}
