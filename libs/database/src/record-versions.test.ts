import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTemporaryDatabase, skipWithoutDatabase } from './temporary-database.ts';

/** How releases before `_revision` create the tables for a collection with history. */
const before = {
  makeTable: (name: string) =>
    `create table records.${name} (id text collate "C" primary key, created_at bigint not null, updated_at bigint not null)`,
  makeHistory: (id: string) => `create table history.${id} (
    record_id text collate "C" not null, at bigint not null, snapshot json not null, primary key (record_id, at))`,
  list: (id: string, name: string) => `insert into system.collections values
    ('${id}', '${name}', 'base', '[]', null, null, null, null, null, null, true, 1, 2)`,
};

test('tables from releases without `_revision` get it with the commit', { skip: skipWithoutDatabase }, async () => {
  const { database, remove } = await openTemporaryDatabase();
  try {
    const commit = (...texts: string[]) =>
      database.transaction(async (query) => {
        for (const text of texts) await query({ text, values: [] });
      });
    await commit(before.makeTable('late'), before.list('c1', 'late'), before.makeHistory('c1'));
    await commit(before.makeTable('others'), before.list('c2', 'others'));
    await commit(before.makeHistory('c2'), "update system.collections set history_enabled = true where id = 'c2'");

    const columns = await database.query<{ table: string }>({
      text: `select table_schema || '.' || table_name as "table" from information_schema.columns
        where column_name = '_revision' and column_default = '0' order by 1`,
      values: [],
    });
    assert.deepEqual(
      columns.map(({ table }) => table),
      ['history.c1', 'history.c2', 'records.late', 'records.others'],
    );
    const keys = await database.query<{ key: string }>({
      text: `select pg_get_constraintdef(oid) as key from pg_constraint
        where connamespace = 'history'::regnamespace and contype = 'p'`,
      values: [],
    });
    assert.deepEqual(
      keys.map(({ key }) => key),
      Array(2).fill('PRIMARY KEY (record_id, at, _revision)'),
    );
  } finally {
    await remove();
  }
});
