import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDirectory } from '../rules/definitions.ts';
import { rewriteView } from './rewrite-view.ts';

const posts = {
  id: 'pbc_1',
  name: 'posts',
  type: 'base',
  fields: [
    { name: 'id', type: 'text' },
    { name: 'title', type: 'text' },
    { name: 'isPublic', type: 'bool' },
    { name: 'active', type: 'bool' },
    { name: 'meta', type: 'json' },
    { name: 'type', type: 'text' },
  ],
};
const jobs = {
  id: 'pbc_2',
  name: 'jobs',
  type: 'base',
  fields: [{ name: 'post', type: 'relation', collectionId: 'pbc_1' }],
};
const directory = createDirectory([posts, jobs], {
  collections: { jobs: 'jobs_' },
  fields: { posts: { type: 'type_' } },
});

const rewritten: readonly (readonly [string, string])[] = [
  ['SELECT id, title FROM posts;', 'SELECT id, title FROM posts'],
  ["select id from posts where title == 'it''s'", "select id from posts where title = 'it''s'"],
  ['select `id`, [title] from `posts`', 'select id, title from posts'],
  ['select id, IFNULL(title, "none") as label from posts', "select id, coalesce(title, 'none') as label from posts"],
  ['select id, isPublic from posts p', 'select id, "isPublic" from posts p'],
  ['select id, IsPublic as openNow from posts', 'select id, "isPublic" as "openNow" from posts'],
  [
    'select (ROW_NUMBER() OVER()) as id, COUNT("*") as total from posts',
    'select (row_number() OVER()) as id, count(*) as total from posts',
  ],
  [
    'select id from posts where active = 1 and isPublic != 0',
    'select id from posts where active = true and "isPublic" != false',
  ],
  ["select id, json_extract(meta, '$.a.b[0]') as b from posts", "select id, (meta #>> '{a,b,0}') as b from posts"],
  ["select p.id, JSON_EXTRACT(p.meta,'$.a') from posts p", "select p.id, (p.meta #>> '{a}') from posts p"],
  ["select id from posts where title like '%a%'", "select id from posts where title ilike '%a%'"],
  [
    'select p.id, p.type from jobs j join posts p on j.post = p.id',
    'select p.id, p.type_ from jobs_ j join posts p on j.post = p.id',
  ],
  ['select id, CAST(title AS REAL) as n from posts', 'select id, CAST(title AS real) as n from posts'],
  ['select id, max(1, 2) as m, max(id) from posts', 'select id, greatest(1, 2) as m, max(id) from posts'],
  ['select id -- the key\nfrom posts /* all */', 'select id from posts'],
];

const refused: readonly (readonly [string, string])[] = [
  ["select id, strftime('%Y', created) as y from posts", "strftime() is SQLite's"],
  ['select rowid as id from posts', "rowid is SQLite's"],
  ["select id from posts where title glob 'a*'", "glob is SQLite's"],
  ['select id, json_extract(meta, title) as b from posts', 'json_extract of something other than a field and a path'],
  ["select id from posts where title = 'a", 'a text or a comment without an end, or too long'],
  [`select id from posts ${' '.repeat(20_000)}where 1`, 'a text or a comment without an end, or too long'],
];

describe("a view's query", () => {
  for (const [from, to] of rewritten) test(from, () => assert.deepEqual(rewriteView(from, directory), { query: to }));

  for (const [from, why] of refused)
    test(`refuses ${from.slice(0, 60)}`, () => assert.deepEqual(rewriteView(from, directory), { query: null, why }));

  test('a hostile text takes linear time', () => {
    for (const part of ['"', '`', '(', 'json_extract(', '/*', "'", 'max(,'])
      assert.ok(rewriteView(part.repeat(20_000 / part.length), directory));
  });
});
