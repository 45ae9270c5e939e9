import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testCollection } from '../../test/test-collection.ts';
import { planChange } from './change-table.ts';

const text = (name: string, rest: object = {}) => ({ name, type: 'text', ...rest });
const plan = (before: object[], after: object[], name = 'posts') =>
  planChange(testCollection('posts', before), testCollection(name, after));

test('a change without changed columns plans nothing', () => {
  assert.deepEqual(plan([text('a')], [text('a')]), []);
  assert.deepEqual(plan([text('a')], [text('a', { required: true, options: { min: 1, max: 2, pattern: 'a' } })]), []);
  const relation = { name: 'r', type: 'relation', collection: 'tags' };
  assert.deepEqual(plan([relation], [{ ...relation, options: { cascade: 'restrict' } }]), []);
});

test('fields are dropped before and added after the table has its new name', () => {
  assert.deepEqual(
    plan([text('a')], [text('b'), { name: 'r', type: 'relation', collection: 'articles' }], 'articles'),
    [
      'alter table records."posts" drop column "a"',
      'alter table records."posts" rename to "articles"',
      'alter table records."articles" add column "b" text, add column "r" text collate "C"',
      'create index "ix:c:r" on records."articles" ("r")',
      'alter table records."articles" add constraint "fk:c:r" foreign key ("r") references records."articles" (id) ' +
        'deferrable initially immediate',
    ],
  );
});

test('columns that swap names get temporary names', () => {
  assert.deepEqual(
    plan(
      [text('a'), text('b'), text('c')],
      [
        { ...text('b'), id: 'a' },
        { ...text('a'), id: 'b' },
        { ...text('d'), id: 'c' },
      ],
    ),
    [
      'alter table records."posts" rename column "a" to "aside:a"',
      'alter table records."posts" rename column "b" to "aside:b"',
      'alter table records."posts" rename column "c" to "d"',
      'alter table records."posts" rename column "aside:a" to "b"',
      'alter table records."posts" rename column "aside:b" to "a"',
    ],
  );
});

test('a unique index is created and dropped', () => {
  const unique = text('a', { options: { unique: true } });
  assert.deepEqual(plan([text('a')], [unique]), [
    `create unique index "uq:c:a" on records."posts" ("a") where "a" <> ''`,
  ]);
  assert.deepEqual(plan([unique], [text('a')]), ['drop index records."uq:c:a"']);
});

test('a single choice becomes a list and back', () => {
  const one = { name: 's', type: 'select', options: { values: ['x'] } };
  const several = { name: 's', type: 'select', options: { values: ['x'], multiple: true } };
  assert.deepEqual(plan([one], [several]), [
    'alter table records."posts" alter column "s" type jsonb using case when "s" is not null then jsonb_build_array("s") end',
  ]);
  assert.deepEqual(plan([several], [one]), ['alter table records."posts" alter column "s" type text using "s" ->> 0']);
});

test('a file field without files has an empty list', () => {
  const one = { name: 'f', type: 'file', options: {} };
  const several = { name: 'f', type: 'file', options: { multiple: true } };
  const sql = (before: object[], after: object[]) =>
    plan(before, after).filter((text) => text.startsWith('alter table'));
  assert.deepEqual(sql([], [several, text('a')]), [
    `alter table records."posts" add column "f" jsonb default '[]', add column "a" text`,
    'alter table records."posts" alter column "f" drop default',
  ]);
  assert.deepEqual(sql([one], [several]), [
    `alter table records."posts" alter column "f" type jsonb using case when "f" is not null then jsonb_build_array("f") else '[]' end`,
  ]);
});

const links = 'links."c:r"';
const tableOfLinks = [
  `create table ${links} (owner text collate "C" not null, target text collate "C" not null)`,
  `insert into ${links} (owner, target)
   select t.id, e.id from records."posts" t cross join lateral jsonb_array_elements_text(t."r") e(id)`,
  `alter table ${links} add constraint "pk:c:r" primary key (owner, target)`,
  `create index "ix:c:r" on ${links} (target, owner)`,
  `alter table ${links} add constraint "owner:c:r" foreign key (owner) references records."posts" (id) on delete cascade,
   add constraint "fk:c:r" foreign key (target) references records."tags" (id) deferrable initially immediate`,
];
const triggersOf = (column: string) => [
  `create trigger targets_of_new before insert on records."posts" for each row
   when (jsonb_array_length(new."${column}") > 100) execute function links."keep:c"()`,
  `create trigger targets_of_changed before update on records."posts" for each row
   when ((jsonb_array_length(new."${column}") > 100 and new."${column}" is distinct from old."${column}")) execute function links."keep:c"()`,
  `create trigger links_added after insert on records."posts" referencing new table as fresh
   for each statement execute function links."keep:c"()`,
  `create trigger links_changed after update on records."posts" referencing old table as stale new table as fresh
   for each statement execute function links."keep:c"()`,
  `create trigger links_dropped before delete on records."posts" for each row execute function links."keep:c"()`,
];
const dropTriggers = [
  ...['targets_of_new', 'targets_of_changed'].map((name) => `drop trigger if exists ${name} on records."posts"`),
  ...['links_added', 'links_changed', 'links_dropped'].map((name) => `drop trigger ${name} on records."posts"`),
  'drop function links."keep:c"()',
];

/** The statements, with the trigger function as the columns that it reads. */
const planLists = (before: object[], after: object[]) =>
  plan(before, after).map((text) => {
    if (!text.startsWith('create function')) return text;
    return [...new Set([...text.matchAll(/r\."(\w+)"|select id, "(\w+)"/g)].map(([, one, other]) => one ?? other))];
  });

test('a relation to several records has a link table, kept by triggers', () => {
  const one = { name: 'r', type: 'relation', collection: 'tags' };
  const several = { ...one, options: { multiple: true } };
  assert.deepEqual(planLists([], [several]), [
    `alter table records."posts" add column "r" jsonb default '[]'`,
    'alter table records."posts" alter column "r" drop default',
    ...tableOfLinks,
    ['r'],
    ...triggersOf('r'),
  ]);
  assert.deepEqual(planLists([several], [{ ...several, options: { multiple: true, cascade: 'cascade', max: 3 } }]), []);
  assert.deepEqual(planLists([several], [{ ...several, id: 'r', name: 's' }]), [
    ...dropTriggers,
    'alter table records."posts" rename column "r" to "s"',
    ['s'],
    ...triggersOf('s'),
  ]);
  assert.deepEqual(planLists([several], []), [
    ...dropTriggers,
    `drop table ${links}`,
    'alter table records."posts" drop column "r"',
  ]);
});

test('a relation to one record becomes one to several and back', () => {
  const one = { name: 'r', type: 'relation', collection: 'tags' };
  const several = { ...one, options: { multiple: true } };
  assert.deepEqual(planLists([one], [several]), [
    'drop index records."ix:c:r"',
    'alter table records."posts" drop constraint "fk:c:r"',
    `alter table records."posts" alter column "r" type jsonb using case when "r" is not null then jsonb_build_array("r") else '[]' end`,
    ...tableOfLinks,
    ['r'],
    ...triggersOf('r'),
  ]);
  assert.deepEqual(planLists([several], [one]), [
    ...dropTriggers,
    `drop table ${links}`,
    'alter table records."posts" alter column "r" type text collate "C" using "r" ->> 0',
    'create index "ix:c:r" on records."posts" ("r")',
    'alter table records."posts" add constraint "fk:c:r" foreign key ("r") references records."tags" (id) ' +
      'deferrable initially immediate',
  ]);
});
