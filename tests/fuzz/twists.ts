import fc from 'fast-check';

/** What is sent beside a request to lead it astray. */
interface Twist {
  /** Stands for each parameter of the path, as it is. */
  readonly segment?: string;
  /** Stands at the end of the query, as it is. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

/** Traps of percent-encoding, parameters and headers that come more than once. */
export const twists: fc.Arbitrary<Twist> = fc.oneof(
  fc
    .constantFrom(
      '%',
      '%zz',
      '%00',
      '%c0%af',
      '%2e%2e',
      '..%2f..',
      '%2F',
      '%5c',
      '%ff',
      '%ed%a0%80',
      ';a=b',
      '%25',
      '*',
    )
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
