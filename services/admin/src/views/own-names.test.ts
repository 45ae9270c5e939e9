import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testCollection } from '../../test/test-collection.ts';
import { readViewQuery } from './view-query.ts';

const collections = [
  testCollection('posts', [{ name: 'title', type: 'text' }]),
  testCollection('users', [{ name: 'nick', type: 'text' }], { type: 'auth' }),
  testCollection('stats', [{ name: 'anonymous', type: 'bool' }], { type: 'view', lacking: ['created_at'] }),
];

/** Queries, and the text that the database runs if it differs. */
const rows: [query: string, expected?: string][] = [
  ['select id, created from posts', 'select id, created_at as created from posts'],
  ['select p.id, p.updated at from posts p', 'select p.id, p.updated_at at from posts p'],
  ['select id from posts where Created > 5', 'select id from posts where created_at > 5'],
  ['select "posts"."created" from posts', 'select "posts".created_at as created from posts'],
  ['select u . anonymous from users u', 'select u . is_anonymous as anonymous from users u'],
  ['select max(created) from posts', 'select max(created_at) from posts'],
  // In ORDER BY and GROUP BY, output columns take precedence.
  [
    'select id, max(created) as created from posts group by id order by created',
    'select id, max(created_at) as created from posts group by id order by created',
  ],
  ['select id from posts order by created desc', 'select id from posts order by created_at desc'],
  [
    'select id, created from posts group by id, created',
    'select id, created_at as created from posts group by id, created',
  ],
  ['select id from posts order by posts.created + 1', 'select id from posts order by posts.created_at + 1'],
  [
    'select p.id from posts p join users u on u.created = p.created',
    'select p.id from posts p join users u on u.created_at = p.created_at',
  ],
  [
    'select id from posts where exists (select 1 from users u where u.created > posts.created)',
    'select id from posts where exists (select 1 from users u where u.created_at > posts.created_at)',
  ],
  [
    'select created from posts union select updated from users order by created',
    'select created_at as created from posts union select updated_at as updated from users order by created',
  ],
  [
    'with c as (select id, created from posts) select id, created from c',
    'with c as (select id, created_at as created from posts) select id, created from c',
  ],
  [
    "select id, 'é€ created' as x, created from posts",
    "select id, 'é€ created' as x, created_at as created from posts",
  ],
  ['select c.created from (select 1 as created) c'],
  ['select created from (select 1 as created) c, posts'],
  ['select created from posts p (id, created)'],
  ['select anonymous from posts'],
  ['select id, anonymous from stats'],
  ['select id, created from stats'],
  ['select id, created_at from posts'],
  ['select "Created" from posts'],
  ['select posts.* from posts'],
];

for (const [query, expected = query] of rows)
  test(query, async () => {
    assert.equal((await readViewQuery(query, collections)).select, expected);
  });

test('in a statement that does not begin the text', async () => {
  const { select } = await readViewQuery(' ; select created from posts;', collections);
  assert.equal(select.trim(), 'select created_at as created from posts');
});
