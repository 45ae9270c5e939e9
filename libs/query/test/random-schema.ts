import type { Collection } from '@recordbus/schema';
import type { TestField } from '@recordbus/schema/testing';
import fc from 'fast-check';
import { listItems, samplesFor, seconds, texts } from './sample-values.ts';
import { type Item, testCollection, type World } from './world.ts';

/** The language's words are names too. */
const fieldNames = ['title', 'Order', 'count', 'in', 'meta', 'all', 'b2', 'exists'];
const relationNames = ['owner', 'parent', 'members'];
/** The first letters differ: they begin the records' ids. */
const collectionNames = ['users', 'posts', 'Teams', 'staff', 'notes'];

const select = (multiple: boolean) => ({ type: 'select', options: { values: listItems, multiple } });

/** Types by how often they are drawn. */
const plainField = fc.oneof<fc.WeightedArbitrary<Omit<TestField, 'name'>>[]>(
  {
    weight: 12,
    arbitrary: fc.constantFrom('text', 'number', 'bool', 'date', 'json', 'geoPoint').map((type) => ({ type })),
  },
  { weight: 4, arbitrary: fc.boolean().map(select) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('email', 'url', 'editor', 'autodate', 'file').map((type) => ({ type })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      { type: 'file', options: { multiple: true } },
      { type: 'vector', options: { dimensions: 2 } },
      { type: 'password' },
      { type: 'text', options: { encrypted: true } },
    ),
  },
);

/** Field names, each with a definition. */
const named = <T>(names: readonly string[], definition: fc.Arbitrary<T>, [minLength, maxLength]: [number, number]) =>
  fc
    .tuple(
      fc.shuffledSubarray([...names], { minLength, maxLength }),
      fc.array(definition, { minLength: maxLength, maxLength }),
    )
    .map(([chosen, definitions]) =>
      chosen.map((name, index) => ({ name, ...definitions[index] }) as T & { name: string }),
    );

const fieldsArbitrary = (collections: readonly string[]): fc.Arbitrary<TestField[]> => {
  const relation = fc.record({ collection: fc.constantFrom(...collections), multiple: fc.boolean() });
  return fc
    .tuple(named(fieldNames, plainField, [3, 7]), named(relationNames, relation, [0, 3]))
    .map(([plain, relations]) => [
      ...plain,
      ...relations.map(({ name, collection, multiple }) => ({
        name,
        type: 'relation',
        collection,
        options: { cascade: 'setNull', multiple },
      })),
    ]);
};

type Collections = World['collections'];

/**
 * Two to five collections with fields of every type and relations between them, to themselves too. They have no rules
 * yet. The first one has accounts, another one may. One that no relation leads to may be a view.
 */
export const collectionsArbitrary: fc.Arbitrary<Collections> = fc.integer({ min: 2, max: 5 }).chain((count) => {
  const names = collectionNames.slice(0, count);
  const one = fc.record({ fields: fieldsArbitrary(names), type: fc.constantFrom('base', 'base', 'auth', 'view') });
  return fc.tuple(...names.map(() => one)).map((all) => {
    const targets = new Set(all.flatMap(({ fields }) => fields.map(({ collection }) => collection)));
    return Object.fromEntries(
      names.map((name, index) => {
        const { fields = [], type = 'base' } = all[index] ?? {};
        const given = type === 'view' && targets.has(name) ? 'base' : type;
        const collection = { ...testCollection(name, fields, { view: null }), type: index === 0 ? 'auth' : given };
        return [name, collection as Collection];
      }),
    );
  });
});

/** Ids for a collection's records. */
export const idsOf = (name: string): string[] => Array.from({ length: 7 }, (_, index) => `${name.charAt(0)}${index}`);

const orNull = <T>(values: readonly T[]) => fc.constantFrom(null, ...values);

function recordArbitrary({ type, fields }: Collection, id: string): fc.Arbitrary<Item> {
  const values = fields.map((field): [string, fc.Arbitrary<unknown>] => {
    if (field.collection === undefined) return [field.name, orNull(samplesFor(field))];
    const ids = idsOf(field.collection);
    return [field.name, field.options.multiple ? fc.shuffledSubarray(ids, { maxLength: 3 }) : orNull(ids)];
  });
  const account = { email: orNull(texts), verified: fc.boolean(), anonymous: fc.boolean() };
  return fc.record({
    id: fc.constant(id),
    ...Object.fromEntries(values),
    ...(type === 'auth' && account),
    created: fc.constantFrom(...seconds),
    updated: fc.constantFrom(...seconds),
  });
}

/** Records for all collections. Relations lead to records that exist. */
export const recordsArbitrary = (collections: Collections): fc.Arbitrary<World['records']> =>
  fc.record(
    Object.fromEntries(
      Object.values(collections).map((collection) => [
        collection.name,
        fc.tuple(...idsOf(collection.name).map((id) => recordArbitrary(collection, id))),
      ]),
    ),
  );
