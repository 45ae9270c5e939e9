import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCollections, schemaOf } from '../../test/world.ts';
import { findCrossings } from './crossings.ts';

const collections = makeCollections({ users: null, organizations: null });
const scope = {
  collection: collections.posts,
  schema: schemaOf(collections),
  audience: 'rule',
  caller: collections.users,
} as const;

/** Expressions about posts, with the fields that they read in other collections; `*` is the caller's account. */
const rows: [expression: string, crossings: string[]][] = [
  ['author = @request.auth.id && rank > 5', []],
  ['author.name = "x" && author.id != ""', ['users name']],
  ['parent.rank > 5', ['posts rank']],
  ['author.organization = @request.auth.organization', ['users organization', '* users organization']],
  ['comments_via_post.author = @request.auth.id', ['comments post author']],
  [
    'exists(memberships, user = @request.auth.id && organization = record.author.organization)',
    ['memberships user organization', 'users organization'],
  ],
  ['count(@request.auth.follows) > 3 || @request.auth.type = "user"', ['* users follows']],
];

describe('what an expression passes through', () => {
  for (const [expression, expected] of rows)
    it(`is ${expected.join(', ') || 'nothing'} for ${expression}`, () => {
      const found = findCrossings(expression, scope).map(({ collection, fields, isCaller }) =>
        [...(isCaller ? ['*'] : []), collection.name, ...fields].join(' '),
      );
      assert.deepEqual(found, expected);
    });

  const naming: [expression: string, fields: string[]][] = [
    ['comments_via_post.author = @request.auth.id', ['author']],
    ['@request.auth.id in comments_via_post.author', ['author']],
    ['comments_via_post.text in (@request.auth.email, "x")', ['text']],
    ['exists(comments, post = record.id && text = @request.auth.id)', ['text']],
    ['comments_via_post.author.name = @request.auth.id', ['name']],
    ['comments_via_post.text ~ @request.auth.id || author.name = @request.auth.type', []],
  ];
  for (const [expression, expected] of naming)
    it(`names callers by ${expected.join(', ') || 'nothing'} for ${expression}`, () => {
      const found = findCrossings(expression, scope).flatMap(({ naming }) => [...naming]);
      assert.deepEqual(found, expected);
    });
});
