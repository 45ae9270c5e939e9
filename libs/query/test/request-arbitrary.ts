import type { Collection } from '@recordbus/schema';
import fc from 'fast-check';
import type { RequestValues } from '../src/index.ts';
import { idsOf } from './random-schema.ts';
import { samplesFor, texts } from './sample-values.ts';
import { bodyTypes } from './vocabulary.ts';

/** The caller's account in a request; undefined for a guest. Some accounts no longer exist. */
export const authArbitrary = (accounts: readonly Collection[]): fc.Arbitrary<RequestValues['auth']> =>
  fc.option(
    fc.constantFrom(...accounts).chain(({ name }) =>
      fc.record({
        id: fc.constantFrom(...idsOf(name), 'other', ''),
        email: fc.constantFrom('A@x.org', ''),
        type: fc.constant('user' as const),
        collection: fc.constant(name),
        verified: fc.constantFrom(true, false, undefined),
      }),
    ),
    { nil: undefined, freq: 3 },
  );

/** A caller's requests about a collection, with values of any type under the names that expressions use. */
export function requestArbitrary({ fields }: Collection, auth: RequestValues['auth']): fc.Arbitrary<RequestValues> {
  const members = fields
    .filter(({ type }) => bodyTypes.has(type))
    .map((field) => [field.name, fc.constantFrom(null, ...samplesFor(field))]);
  const id = fc.constantFrom<unknown>(null, 'p1', 5, true);
  return fc
    .record({
      method: fc.constantFrom('GET', 'POST'),
      body: fc.option(fc.record({ ...Object.fromEntries(members), id }, { requiredKeys: [] }), { nil: undefined }),
      q: fc.constantFrom(undefined, ...texts, '1', '-5.5', '1e3', '2023-11-14'),
      h: fc.constantFrom(undefined, ...texts),
    })
    .map(({ q, h, ...rest }) => ({
      ...rest,
      auth,
      query: (name: string) => (name === 'q' ? q : undefined),
      header: (name: string) => (name === 'h' ? h : undefined),
    }));
}
