import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testCollection } from '../../test/test-collection.ts';
import { planCreate, planDrop } from './create-table.ts';

test("a table has its key, its order index and its fields' constraints", () => {
  const posts = testCollection('Posts', [
    { name: 'title', type: 'text', options: { unique: true } },
    { name: 'rank', type: 'number', options: { unique: true } },
    { name: 'author', type: 'relation', collection: 'users' },
  ]);
  assert.deepEqual(planCreate(posts), [
    'create table records."Posts" (id text collate "C" constraint "pk:c" primary key, created_at bigint not null, ' +
      'updated_at bigint not null, "title" text, "rank" double precision, "author" text collate "C", _revision integer not null default 0)',
    'create index "created:c" on records."Posts" (created_at desc, id desc)',
    `create unique index "uq:c:title" on records."Posts" ("title") where "title" <> ''`,
    'create unique index "uq:c:rank" on records."Posts" ("rank") where "rank" is not null',
    'create index "ix:c:author" on records."Posts" ("author")',
    'alter table records."Posts" add constraint "fk:c:author" foreign key ("author") references records."users" (id) ' +
      'deferrable initially immediate',
  ]);
  assert.deepEqual(planDrop(posts), [
    'drop table records."Posts"',
    'drop table if exists history."c"',
    "insert into system.file_removals (collection_id) values ('c')",
  ]);
});
