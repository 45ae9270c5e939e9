import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@recordbus/shared/logging';
import pg from 'pg';
import { openDatabase } from './database.ts';
import { migrations } from './migrations/index.ts';
import { createEmptyDatabase, skipWithoutDatabase } from './temporary-database.ts';

/** How the previous release creates the tables of a collection with history, and writes to them. */
const before = {
  makeTable: (name: string) =>
    `create table records.${name} (id text collate "C" primary key, created_at bigint not null, updated_at bigint not null, title text)`,
  makeHistory: (id: string) => `create table if not exists history.${id} (
    record_id text collate "C" not null, at bigint not null, id uuid not null default system.new_id(), op text not null,
    snapshot json not null, actor_type text not null, actor_id text, primary key (record_id, at))`,
  list: (id: string, name: string) => `insert into system.collections values
    ('${id}', '${name}', 'base', '[]', null, null, null, null, null, null, true, 1, 2)`,
  update: `with new as (
    update records.posts t set title = 'old', updated_at = greatest(extract(epoch from now())::bigint, t.updated_at + 1)
    where id = 'r1' returning t.*)
    insert into history.c1 (record_id, at, op, snapshot, actor_type) select id, updated_at, 'update', '{}', 'guest' from new`,
};

/** How this version writes, without the rest of the statement. */
const update = `with new as (
  update records.posts t set title = 'new', _revision = t._revision + 1 where id = 'r1' returning t.*)
  insert into history.c1 (record_id, at, _revision, op, snapshot, actor_type)
  select id, updated_at, _revision, 'update', '{}', 'guest' from new`;

test('records get versions from writers of the previous release', { skip: skipWithoutDatabase }, async () => {
  // A failure must close the connections too, or the file would never end.
  await using cleanUp = new AsyncDisposableStack();
  const temporary = await createEmptyDatabase(process.env.TEST_DATABASE_URL ?? '');
  cleanUp.defer(() => temporary.drop());
  const connect = async () => {
    const client = new pg.Client({ connectionString: temporary.url });
    await client.connect();
    cleanUp.defer(() => client.end());
    return client;
  };
  const [client, slow] = [await connect(), await connect()];
  const run = async (...texts: string[]) => {
    for (const text of texts) await client.query(text);
  };
  await run(
    'create schema system',
    'create table system.kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)',
  );
  for (const [name, statements] of Object.entries(migrations))
    if (name < '0023') await run(...statements, `insert into system.kysely_migration values ('${name}', '2026')`);
  await run(
    before.makeTable('posts'),
    before.makeTable('others'),
    before.makeHistory('c1'),
    before.list('c1', 'posts'),
    before.list('c2', 'others'),
    // Ahead of the clock, as after many writes within a few seconds.
    "insert into records.posts values ('r1', 1, extract(epoch from now())::bigint + 100, 'first')",
    before.update,
  );

  // A long transaction locks one table; the others stay free for writers.
  await slow.query('begin');
  await slow.query("update records.posts set title = 'slow' where id = 'r1'");
  let hasOpened = false;
  const opening = openDatabase({ url: temporary.url, name: 'test', log: createLogger('test', 'silent') }).finally(
    () => {
      hasOpened = true;
    },
  );
  for (;;) {
    const { rows } = await client.query(
      "select from pg_locks where not granted and relation = 'records.posts'::regclass",
    );
    // Migrations that failed wait for no lock.
    if (rows.length > 0 || hasOpened) break;
  }
  await run("insert into records.others values ('r2', 1, 1, 'beside')");
  await slow.query('commit');
  await (await opening).close();

  await run(before.update, before.update, update, update, before.update, update);
  const { rows } = await client.query('select at::int, _revision from history.c1 order by at, _revision');
  const [{ at: base } = { at: 0 }] = rows;
  assert.deepEqual(
    rows.map(({ at, _revision }) => [at - base, _revision]),
    [
      [0, 0],
      [1, 0],
      [2, 0],
      [2, 1],
      [2, 2],
      // The replica of the previous release has left `_revision` of the row unchanged.
      [3, 0],
      [3, 3],
    ],
  );

  // What a replica of the previous release creates from now on.
  await run(
    'begin',
    before.makeTable('late'),
    before.list('c3', 'late'),
    before.makeHistory('c3'),
    'commit',
    'begin',
    before.makeHistory('c2'),
    "update system.collections set history_enabled = true where id = 'c2'",
    'commit',
  );
  const columns = await client.query(`select table_schema || '.' || table_name as "table", column_default
    from information_schema.columns where column_name = '_revision' order by 1`);
  assert.deepEqual(
    columns.rows.map(({ table, column_default }) => [table, column_default]),
    ['history.c1', 'history.c2', 'history.c3', 'records.late', 'records.others', 'records.posts'].map((table) => [
      table,
      '0',
    ]),
  );
  const keys = await client.query(`select pg_get_constraintdef(oid) as key from pg_constraint
    where connamespace = 'history'::regnamespace and contype = 'p'`);
  assert.deepEqual(
    keys.rows.map(({ key }) => key),
    Array(3).fill('PRIMARY KEY (record_id, at, _revision)'),
  );
});
