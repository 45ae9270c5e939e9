import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Collection } from '@recordbus/schema';
import { makeCollections, schemaOf } from '../../test/world.ts';
import { findMissingIndex } from './missing-index.ts';

const { posts, ...others } = makeCollections({ users: null, organizations: null });
const indexed = {
  ...posts,
  indexes: [
    { id: 'i', name: 'rank', columns: ['rank', 'ok'], unique: false, type: 'btree' as const },
    { id: 'j', name: 'words', columns: ['Order'], unique: false, type: 'trigram' as const },
  ],
};
const collections = { ...others, posts: indexed };
const scope = { collection: indexed, schema: schemaOf(collections), caller: collections.users };

/** The index as `collection.column`, or `none` if the rule has one, or no index would help. */
function missing(rule: string, large: readonly string[], isFound = false): string {
  const isLarge = ({ name }: Collection) => large.includes(name);
  const found = findMissingIndex(rule, { ...scope, isLarge, isFound });
  return found ? `${found.collection.name}.${found.column}${found.type === 'trigram' ? ' trigram' : ''}` : 'none';
}

describe('the index that a rule lacks', () => {
  const rows: [rule: string, large: string, expected: string][] = [
    ['title = "x"', 'posts', 'posts.title'],
    ['title = "x"', '', 'none'],
    ['title in ("x", @request.auth.name)', 'posts', 'posts.title'],
    ['author = @request.auth.id', 'posts', 'none'],
    ['readers = @request.auth.id', 'posts', 'none'],
    ['rank > 5', 'posts', 'none'],
    ['ok = true', 'posts', 'posts.ok'],
    ['created > @now-7d', 'posts', 'none'],
    ['title = "x" && author = @request.auth.id', 'posts', 'none'],
    ['title = "x" || author = @request.auth.id', 'posts', 'posts.title'],
    ['title = "x" || title != "y"', 'posts', 'none'],
    ['title ~ "x"', 'posts', 'posts.title trigram'],
    ['Order ~ "x"', 'posts', 'none'],
    ['not (title = "x")', 'posts', 'none'],
    ['@request.auth.id != ""', 'posts', 'none'],
    ['meta.a = 5', 'posts', 'none'],
    ['author.name = @request.auth.name', 'posts users', 'users.name'],
    ['author.name = @request.auth.name', 'posts', 'none'],
    ['comments_via_post.text = "x"', 'posts comments', 'comments.text'],
    [
      'exists(memberships, user = @request.auth.id && organization = record.author.organization)',
      'posts memberships',
      'none',
    ],
    ['exists(memberships, kind = "a" && organization = record.title)', 'posts', 'posts.title'],
    ['exists(users, name = record.title)', 'users', 'users.name'],
    ['exists(comments, rank > 1)', 'posts comments', 'comments.rank'],
  ];
  for (const [rule, large, expected] of rows)
    it(`for ${rule}, large: ${large || 'nothing'}`, () => assert.equal(missing(rule, large.split(' ')), expected));

  it('for a record that is found by its id, only related collections count', () => {
    assert.equal(missing('title = "x"', ['posts'], true), 'none');
    assert.equal(missing('ok = true && exists(users, name = record.title)', ['posts', 'users'], true), 'users.name');
    assert.equal(missing('exists(users, id = record.title)', ['posts', 'users'], true), 'none');
  });
});
