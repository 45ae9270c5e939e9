import { type Collection, fieldTypeOf, linkTableOf, quoteIdentifier, tableOf } from '@recordbus/schema';
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

/** View rules of the collections that posts lead to. */
export interface ViewRules {
  readonly users: string | null;
  readonly organizations: string | null;
  readonly comments?: string | null;
}

const relationTo = (name: string, collection: string, options = {}): TestField => ({
  name,
  type: 'relation',
  collection,
  options: { cascade: 'setNull', ...options },
});

/** Posts with every kind of member, and the collections around them: users and staff have accounts. */
export const makeCollections = ({ users, organizations, comments = null }: ViewRules) => ({
  organizations: testCollection(
    'organizations',
    [{ name: 'name' }, { name: 'size', type: 'number' }, { name: 'place', type: 'geoPoint' }],
    { view: organizations },
  ),
  users: {
    ...testCollection(
      'users',
      [
        { name: 'name' },
        { name: 'active', type: 'bool' },
        { name: 'level', type: 'number' },
        { name: 'tags', type: 'select', options: { values: listItems, multiple: true } },
        relationTo('organization', 'organizations'),
        relationTo('follows', 'users', { multiple: true }),
      ],
      { view: users },
    ),
    type: 'auth' as const,
  },
  staff: {
    ...testCollection('staff', [{ name: 'name' }, relationTo('organization', 'organizations')]),
    type: 'auth' as const,
  },
  memberships: testCollection('memberships', [
    relationTo('user', 'users'),
    relationTo('organization', 'organizations'),
    { name: 'kind', type: 'select', options: { values: ['a', 'A', 'b'], multiple: false } },
  ]),
  comments: testCollection(
    'comments',
    [{ name: 'text' }, { name: 'rank', type: 'number' }, relationTo('post', 'posts'), relationTo('author', 'users')],
    { view: comments },
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
    relationTo('author', 'users'),
    relationTo('parent', 'posts'),
    relationTo('readers', 'users', { multiple: true }),
    { name: 'secret', options: { encrypted: true } },
  ]),
});

/** View rules that hide nothing, everything, or some records; some follow relations back. */
export const viewRules = [
  null,
  '',
  '@request.auth.id = id',
  'name != "a" && created >= 5',
  'organization.name ~ "a" || active = true',
  'organization.size != null',
  'exists(memberships, user = record.id && organization = @request.auth.organization)',
  'not (@request.auth.follows = id)',
];
export const organizationRules = [null, '', 'name ~ "A"', '@request.auth.type = "user" && size > 0'];
export const commentRules = [null, 'rank > 0', 'author = @request.auth.id', 'not (post.rank > 1)'];

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

const points = [
  { lat: 48.2, lng: 16.4 },
  { lat: -33.9, lng: 151.2 },
  { lat: 90, lng: 0 },
  { lat: 48.2, lng: 16.5 },
];

const orNull = <T>(values: readonly T[]) => fc.constantFrom(null, ...values);
const sometimes = (count: number, prefix: string) =>
  orNull(Array.from({ length: count }, (_, index) => `${prefix}${index}`));

/** Ids of some records, in any order. */
const several = (count: number, prefix: string) =>
  fc.shuffledSubarray(
    Array.from({ length: count }, (_, index) => `${prefix}${index}`),
    { maxLength: 3 },
  );

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
  organizations: withSystem('o', fc.record({ name: orNull(texts), size: orNull(numbers), place: orNull(points) }), 4),
  users: withSystem(
    'u',
    fc.record({
      name: orNull(texts),
      active: orNull([true, false]),
      level: orNull(numbers),
      tags: fc.option(fc.subarray(listItems)),
      organization: sometimes(4, 'o'),
      follows: several(6, 'u'),
    }),
    6,
  ),
  staff: withSystem('s', fc.record({ name: orNull(texts), organization: sometimes(4, 'o') }), 2),
  memberships: withSystem(
    'm',
    fc.record({ user: sometimes(6, 'u'), organization: sometimes(4, 'o'), kind: orNull(['a', 'A', 'b']) }),
    10,
  ),
  comments: withSystem(
    'c',
    fc.record({
      text: orNull(texts),
      rank: orNull(numbers),
      post: sometimes(30, 'p'),
      author: sometimes(6, 'u'),
    }),
    40,
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
      readers: several(6, 'u'),
      secret: orNull(texts),
    }),
    30,
  ),
});

/** The statements that create the tables, without foreign keys. */
export function describeTables(collections: World['collections']): string[] {
  return [
    'create schema if not exists records',
    'create schema if not exists links',
    ...Object.values(collections).flatMap((collection) => {
      // Texts are in the order of code points, whatever the database's locale.
      const columns = collection.fields.map(
        (field) =>
          `${quoteIdentifier(field.name)} ${fieldTypeOf(field)
            .columnType(field)
            .replace(/^text$/, 'text collate "C"')}, `,
      );
      const account = collection.type === 'auth' ? 'email text, verified boolean, is_anonymous boolean, ' : '';
      return [
        `create table ${tableOf(collection)} (id text collate "C" primary key, ${columns.join('')}${account}created_at bigint not null, updated_at bigint not null)`,
        ...listsOf(collection).map(
          (field) => `create table ${linkTableOf(collection, field)} (owner text, target text)`,
        ),
      ];
    }),
  ];
}

/** The relations to several records. */
const listsOf = ({ fields }: Collection) =>
  fields.filter(({ type, options }) => type === 'relation' && options.multiple);

/** The statements that fill the tables of links from the columns of a table. */
export const describeLinks = (collection: Collection): string[] =>
  listsOf(collection).flatMap((field) => [
    `delete from ${linkTableOf(collection, field)}`,
    `insert into ${linkTableOf(collection, field)} select t.id, e.target from ${tableOf(collection)} t
      cross join jsonb_array_elements_text(t.${quoteIdentifier(field.name)}) e(target)`,
  ]);

/** The statement that fills a table, and its one value. */
export function describeRows(collection: Collection, items: readonly Item[]): { text: string; values: unknown[] } {
  const rows = items.map(({ created, updated, ...rest }) => ({ ...rest, created_at: created, updated_at: updated }));
  return {
    text: `insert into ${tableOf(collection)} select * from json_populate_recordset(null::${tableOf(collection)}, $1)`,
    values: [JSON.stringify(rows)],
  };
}
