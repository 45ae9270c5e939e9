import { type Collection, fieldTypeOf, quoteIdentifier, tableOf } from '@recordbus/schema';
import { testCollection as collectionOf, type TestField } from '@recordbus/schema/testing';
import fc from 'fast-check';
import type { QuerySchema } from '../src/index.ts';

/** A record as a plain object: members by name, null for no value. */
export type Item = Readonly<Record<string, unknown>>;

/** Collections with their records. */
export interface World {
  readonly collections: Readonly<Record<string, Collection>>;
  readonly records: Readonly<Record<string, readonly Item[]>>;
}

/** A base collection as the schema cache has it. Rules that are not given admit only admins. */
export const testCollection = (
  name: string,
  fields: readonly TestField[],
  rules: Partial<Collection['rules']> = {},
): Collection => {
  const collection = collectionOf(name, fields);
  return { ...collection, rules: { ...collection.rules, ...rules } };
};

export const schemaOf = (collections: Readonly<Record<string, Collection>>): QuerySchema => ({
  findCollection: (name) => (Object.hasOwn(collections, name) ? collections[name] : undefined),
});

/** Posts with every kind of member, their authors, and the authors' organizations. */
export const makeCollections = (rules: { users: string | null; organizations: string | null }) => ({
  organizations: testCollection('organizations', [{ name: 'name' }, { name: 'size', type: 'number' }], {
    list: rules.organizations,
  }),
  users: testCollection(
    'users',
    [
      { name: 'name' },
      { name: 'active', type: 'bool' },
      { name: 'organization', type: 'relation', collection: 'organizations' },
    ],
    { list: rules.users },
  ),
  posts: testCollection('posts', [
    { name: 'title' },
    { name: 'Order' },
    { name: 'rank', type: 'number' },
    { name: 'ok', type: 'bool' },
    { name: 'at', type: 'date' },
    { name: 'kind', type: 'select', options: { values: ['a', 'A', 'b'], multiple: false } },
    { name: 'tags', type: 'select', options: { values: listItems, multiple: true } },
    { name: 'meta', type: 'json' },
    { name: 'author', type: 'relation', collection: 'users' },
    { name: 'parent', type: 'relation', collection: 'posts' },
    { name: 'secret', options: { encrypted: true } },
  ]),
});

/** List rules that hide nothing, everything, or some records; some follow relations back. */
export const listRules = [
  null,
  '',
  '@request.auth.id = id',
  'name != "a" && created >= 5',
  'organization.name ~ "a" || active = true',
  'organization.size != null',
];
export const organizationRules = [null, '', 'name ~ "A"', '@request.auth.type = "user" && size > 0'];

/** Upper and lower case within and beyond ASCII, and characters that are special in LIKE, JSON and SQL. */
export const texts = [
  '',
  'a',
  'A',
  'b',
  'ab',
  'aB%',
  '_b',
  'a\\b',
  '"',
  "'",
  '5',
  'true',
  'Äb',
  'äB',
  'ΑΣ',
  'ας',
  'İ',
  'i',
  '😀a',
  'K',
  'k',
];
export const numbers = [0, 1, -1, 5, 5.5, 0.1, 1e21];
export const seconds = [0, 5, -5, 1_700_000_000, 4_100_000_000];
const listItems = ['a', 'A', 'ab', '%', 'ä'];
export const jsonValues = [
  5,
  'a',
  'A',
  true,
  '5',
  [],
  [1, 'a', null],
  { a: 5 },
  { a: 'b', b: null },
  { a: { b: 'ab' } },
  { bb: 1, a: [true] },
];

const orNull = <T>(values: readonly T[]) => fc.constantFrom(null, ...values);
const sometimes = (count: number, prefix: string) =>
  orNull(Array.from({ length: count }, (_, index) => `${prefix}${index}`));

const withSystem = (prefix: string, record: fc.Arbitrary<Item>, count: number): fc.Arbitrary<Item[]> =>
  fc
    .array(fc.tuple(record, fc.constantFrom(...seconds), fc.constantFrom(...seconds)), {
      minLength: count,
      maxLength: count,
    })
    .map((rows) =>
      rows.map(([row, created, updated], index) => ({ id: `${prefix}${index}`, ...row, created, updated })),
    );

/** Records for `makeCollections`. */
export const recordsArbitrary: fc.Arbitrary<World['records']> = fc.record({
  organizations: withSystem('o', fc.record({ name: orNull(texts), size: orNull(numbers) }), 4),
  users: withSystem(
    'u',
    fc.record({ name: orNull(texts), active: orNull([true, false]), organization: sometimes(4, 'o') }),
    6,
  ),
  posts: withSystem(
    'p',
    fc.record({
      title: orNull(texts),
      Order: orNull(texts),
      rank: orNull(numbers),
      ok: orNull([true, false]),
      at: orNull(seconds),
      kind: orNull(['a', 'A', 'b']),
      tags: fc.option(fc.subarray(listItems)),
      meta: orNull(jsonValues),
      author: sometimes(6, 'u'),
      parent: sometimes(30, 'p'),
      secret: orNull(texts),
    }),
    30,
  ),
});

/** The statements that create the tables, without foreign keys. */
export function describeTables(collections: World['collections']): string[] {
  return [
    'create schema if not exists records',
    ...Object.values(collections).map((collection) => {
      // Texts are in the order of code points, whatever the database's locale.
      const columns = collection.fields.map(
        (field) =>
          `${quoteIdentifier(field.name)} ${fieldTypeOf(field)
            .columnType(field)
            .replace(/^text$/, 'text collate "C"')}, `,
      );
      return `create table ${tableOf(collection)} (id text collate "C" primary key, ${columns.join('')}created_at bigint not null, updated_at bigint not null)`;
    }),
  ];
}

/** The statement that fills a table, and its one value. */
export function describeRows(collection: Collection, items: readonly Item[]): { text: string; values: unknown[] } {
  const rows = items.map(({ created, updated, ...rest }) => ({ ...rest, created_at: created, updated_at: updated }));
  return {
    text: `insert into ${tableOf(collection)} select * from json_populate_recordset(null::${tableOf(collection)}, $1)`,
    values: [JSON.stringify(rows)],
  };
}
