import fc from 'fast-check';
import type { RequestValues } from '../src/index.ts';
import { jsonValues, numbers, seconds, texts } from './world.ts';

/** Requests by guests, users and staff, with values of any type under the names that the expressions use. */
export const requestArbitrary: fc.Arbitrary<RequestValues> = fc
  .record({
    method: fc.constantFrom('GET', 'POST'),
    auth: fc.option(
      fc.record({
        id: fc.constantFrom('u0', 'u1', 'u2', 'u3', 's0', 'p1', ''),
        email: fc.constantFrom('A@x.org', ''),
        type: fc.constant('user' as const),
        collection: fc.constantFrom('users', 'users', 'staff'),
        verified: fc.constantFrom(true, false, undefined),
      }),
      { nil: undefined },
    ),
    body: fc.option(
      fc.record(
        {
          title: fc.constantFrom(null, ...texts),
          rank: fc.constantFrom(null, ...numbers),
          ok: fc.constantFrom(null, true, false),
          at: fc.constantFrom(null, ...seconds),
          tags: fc.constantFrom(null, ['a'], ['a', 'A'], []),
          meta: fc.constantFrom(null, ...jsonValues),
          id: fc.constantFrom<unknown>(null, 'p1', 5, true),
        },
        { requiredKeys: [] },
      ),
      { nil: undefined },
    ),
    q: fc.constantFrom(undefined, ...texts, '1', '-5.5', '1e3', '2023-11-14'),
    h: fc.constantFrom(undefined, ...texts),
  })
  .map(({ q, h, ...rest }) => ({
    ...rest,
    query: (name: string) => (name === 'q' ? q : undefined),
    header: (name: string) => (name === 'h' ? h : undefined),
  }));
