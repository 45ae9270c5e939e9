import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Collection, Field } from '@recordbus/schema';
import { makeCollections, schemaOf } from '../../test/world.ts';
import { findReferences, renameInExpression } from './references.ts';

const collections = makeCollections({ users: null, organizations: null });
const origin = {
  collection: collections.posts,
  schema: schemaOf(collections),
  accounts: [collections.users, collections.staff],
};
const text = 'author.organization.name  !=   "author" && ( title ~ author || @request.body.author:changed = false )';

const fieldOf = (collection: keyof typeof collections, name: string) => {
  const field = collections[collection].fields.find((field) => field.name === name);
  assert.ok(field);
  return field;
};

describe('references', () => {
  it('names each field with its collection and place', () => {
    assert.deepEqual(
      findReferences(text, origin).map(({ collection, to, position }) => [collection.name, to.name, position]),
      [
        ['posts', 'author', 0],
        ['users', 'organization', 7],
        ['organizations', 'name', 20],
        ['posts', 'title', 45],
        ['posts', 'author', 53],
        ['posts', 'author', 77],
      ],
    );
  });

  const rows: [string, [...Parameters<typeof fieldOf>, string][], string][] = [
    [
      'a field of the collection, at every position',
      [['posts', 'author', 'by']],
      'by.organization.name  !=   "author" && ( title ~ by || @request.body.by:changed = false )',
    ],
    [
      'a field of a collection that the rule crosses',
      [['users', 'organization', 'employer']],
      'author.employer.name  !=   "author" && ( title ~ author || @request.body.author:changed = false )',
    ],
    [
      'two fields that swap their names',
      [
        ['posts', 'author', 'title'],
        ['posts', 'title', 'author'],
      ],
      'title.organization.name  !=   "author" && ( author ~ title || @request.body.title:changed = false )',
    ],
    ['no other field of the same name', [['users', 'name', 'x']], text],
  ];
  for (const [title, names, expected] of rows)
    it(`renames ${title}`, () => {
      const renamed = new Map(names.map(([collection, field, name]) => [fieldOf(collection, field), name]));
      assert.equal(renameInExpression(text, origin, renamed), expected);
    });

  const wide =
    'comments_via_post.author in @request.auth.follows && exists(memberships, user = record.author && count(organization.users_via_organization) > 1) && @request.auth.collection = "users" && all(record = 1)';
  const renamed = (names: readonly [keyof typeof collections, string | undefined, string][]) =>
    renameInExpression(
      wide,
      origin,
      new Map(
        names.map(([collection, field, name]) => [field ? fieldOf(collection, field) : collections[collection], name]),
      ),
    );
  it("renames in back-relations, exists, counts and the caller's paths", () => {
    assert.equal(
      renamed([
        ['comments', undefined, 'notes'],
        ['comments', 'post', 'about'],
        ['comments', 'author', 'writer'],
        ['posts', 'author', 'by'],
        ['users', 'follows', 'knows'],
        ['users', undefined, 'people'],
        ['memberships', undefined, 'members'],
        ['memberships', 'user', 'who'],
        ['memberships', 'organization', 'org'],
        ['users', 'organization', 'firm'],
      ]),
      'notes_via_about.writer in @request.auth.knows && exists(members, who = record.by && count(org.people_via_firm) > 1) && @request.auth.collection = "people" && all(record = 1)',
    );
  });
  it('keeps a name that means several fields, unless all of them get the same name', () => {
    const both = '@request.auth.organization = "x"';
    const names: [Collection | Field, string][] = [[fieldOf('users', 'organization'), 'firm']];
    assert.equal(renameInExpression(both, origin, new Map(names)), both);
    names.push([fieldOf('staff', 'organization'), 'firm']);
    assert.equal(renameInExpression(both, origin, new Map(names)), '@request.auth.firm = "x"');
  });
});
