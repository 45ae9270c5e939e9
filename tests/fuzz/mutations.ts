import fc from 'fast-check';

/** A part of a request that replaces or adds unusual text. */
interface Mutation {
  /** Replaces each path parameter, without encoding. */
  readonly segment?: string;
  /** Is appended to the query, without encoding. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

/** Broken percent-encoding (fetch resolves `%2e%2e` itself), and parameters and headers that come more than once. */
export const mutations: fc.Arbitrary<Mutation> = fc.oneof(
  fc
    .constantFrom('%', '%zz', '%00', '%c0%af', '..%2f..', '%2F', '%5c', '%ff', '%ed%a0%80', ';a=b', '%25', '*')
    .map((segment) => ({ segment })),
  fc
    .constantFrom('page=1&page=x', 'page=2&page=1', 'filter=id&filter=(', 'page[]=1', '%=%', 'a=%zz', '&&&=', '%00=%00')
    .map((query) => ({ query })),
  fc
    .constantFrom<Record<string, string[]>>(
      { Authorization: ['Bearer a', 'Bearer b'] },
      { 'X-Service-Idempotency-Key': ['a', 'b'] },
      { 'If-Match': ['"a"', '*'] },
      { 'X-Forwarded-For': ['1.2.3.4', 'x'] },
      { 'X-Request-Id': ['a', 'b'] },
      { Cookie: ['a=1', 'b=2'] },
    )
    .map((headers) => ({ headers })),
);
