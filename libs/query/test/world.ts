import type { Collection } from '@recordbus/schema';
import { testCollection as collectionOf, type TestField } from '@recordbus/schema/testing';
import type { QuerySchema } from '../src/index.ts';
import { listItems } from './sample-values.ts';

/** A record as a plain object: members by name, null for no value. */
export type Item = Readonly<Record<string, unknown>>;

/** Collections with their records. */
export interface World {
  readonly collections: Readonly<Record<string, Collection>>;
  readonly records: Readonly<Record<string, readonly Item[]>>;
}

/** A base collection in the schema cache. Omitted rules admit only admins. */
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

/** View rules for the collections related to posts. */
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
