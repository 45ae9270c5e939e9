import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCollections, schemaOf } from '../../test/world.ts';
import { findDeadParts } from './dead-parts.ts';

const collections = makeCollections({ users: null, organizations: null });
const scope = { collection: collections.posts, schema: schemaOf(collections), accounts: [collections.users] };

/** Rules for posts, and the parts that never hold: their positions, `*` for the whole rule, and what they test. */
const rows: [rule: string, parts: string[]][] = [
  ['title = "x" || @request.auth.id = null', ['15 null']],
  ['@request.auth.organization = null', ['* null']],
  ['author = @request.auth.id || @request.auth.type = "guest"', ['29 type']],
  ['@request.auth.type = "admin" || rank > 5', ['0 type']],
  ['@request.auth.collection = "nobody" || @request.auth.collection = "users"', ['0 collection']],
  ['rank > 5 && (title = "a" && title = "b" || rank < 9)', ['13 other']],
  ['title = "a" && title != "a"', ['* other']],
  ['rank > 5 && rank < 3', ['* other']],
  ['rank >= 5 && 5 > rank', ['* other']],
  ['1 = 2 || rank = 1', ['0 other']],
  ['@request.auth.type = "user" && @request.auth.type = "service" || rank = 1', ['0 type']],
  ['rank > 5 || kind = "z"', ['12 choice']],
  ['kind = "z"', ['* choice']],
  ['"z" = kind && rank = 1', ['* choice']],
  ['kind = "a" || kind != "z"', []],
  ['not (kind = "z")', []],
  ['kind = "" || kind = null', []],
  ['@request.auth.id != null', []],
  ['@request.auth.id != "" || @request.auth.type = "service"', []],
  ['rank >= 5 && rank <= 5', []],
  ['rank > 5 || rank < 3', []],
  ['title = null || author = null', []],
  ['comments_via_post.rank = 1 && comments_via_post.rank = 2', []],
  ['tags = "a" && tags = "A"', []],
  ['tags = "none of them"', ['* choice']],
  ['not (@request.auth.id = null)', []],
  ['author.name = "a" && parent.title = "b"', []],
  ['nothing = 1', []],
];

describe("a rule's parts that never hold", () => {
  for (const [rule, expected] of rows)
    it(`are ${expected.join(', ') || 'none'} in ${rule}`, () => {
      const found = findDeadParts(rule, scope).map(
        ({ position, isWhole, tests }) => `${isWhole ? '*' : position} ${tests}`,
      );
      assert.deepEqual(found, expected);
    });
});
