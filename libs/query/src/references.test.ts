import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCollections, schemaOf } from '../test/world.ts';
import { findReferences, renameInExpression } from './references.ts';

const collections = makeCollections({ users: null, organizations: null });
const origin = { collection: collections.posts, schema: schemaOf(collections) };
const text = 'author.organization.name  !=   "author" && ( title ~ author || @request.body.author:changed = false )';

const fieldOf = (collection: keyof typeof collections, name: string) => {
  const field = collections[collection].fields.find((field) => field.name === name);
  assert.ok(field);
  return field;
};

describe('references', () => {
  it('names each field with its collection and place', () => {
    assert.deepEqual(
      findReferences(text, origin).map(({ collection, field, position }) => [collection.name, field.name, position]),
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
});
