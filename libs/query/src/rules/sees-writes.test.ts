import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCollections, schemaOf } from '../../test/world.ts';
import { seesWrites } from './sees-writes.ts';

const { posts, ...others } = makeCollections({ users: null, organizations: null });
const schema = schemaOf({ ...others, posts });
const principal = {
  type: 'user',
  id: 'u',
  email: '',
  collection: 'users',
  anonymous: false,
  impersonatedBy: null,
} as const;

describe("whether a rule sees writes to its collection's other records", () => {
  const rows: [rule: string, sees: boolean][] = [
    ['title = "x" && created > @now-7d', false],
    ['author = @request.auth.id', false],
    ['author.name = @request.auth.name', false],
    ['readers = @request.auth.id', false],
    ['author.posts_via_author.title = "x"', true],
    ['comments_via_post.text = "x"', false],
    ['comments_via_post.post.title = "x"', true],
    ['count(comments_via_post) > 1', false],
    ['count(author.posts_via_author) > 1', true],
    ['exists(memberships, user = @request.auth.id && organization = record.author.organization)', false],
    ['exists(memberships, kind = record.title)', false],
    ['exists(posts, title = "x")', true],
    ['exists(users, exists(posts, author = record.id))', true],
    ['exists(users, exists(memberships, kind = record.record.title))', false],
    ['@request.body.title = "x"', true],
    ['@request.body.title:changed = true', true],
    ['@request.query.key = "x"', false],
    ['title = ', true],
  ];
  for (const [rule, sees] of rows)
    it(`${rule}: ${sees}`, () => assert.equal(seesWrites(rule, { collection: posts, schema, principal }), sees));
});
