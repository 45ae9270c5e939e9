import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createLogger } from '@recordbus/shared/logging';
import pg from 'pg';
import { openDatabase } from '../database.ts';
import { migrations } from '../migrations/index.ts';
import { migrationNames } from '../migrations/names.ts';
import { createEmptyDatabase, skipWithoutDatabase, type TemporaryDatabase } from '../temporary-database.ts';

test('every file of a migration is listed, in order', () => {
  assert.deepEqual(Object.keys(migrations), migrationNames);
});

describe('the system tables', { skip: skipWithoutDatabase }, () => {
  let temporary: TemporaryDatabase;
  before(async () => {
    temporary = await createEmptyDatabase(process.env.TEST_DATABASE_URL ?? '');
  });
  after(() => temporary.drop());

  const open = () => openDatabase({ url: temporary.url, name: 'test', log: createLogger('test', 'silent') });
  const names = { text: 'select name from system.kysely_migration order by name', values: [] };

  test('are created once by replicas that start at the same time', async () => {
    const replicas = await Promise.all([open(), open(), open()]);
    for (const { query } of replicas)
      assert.deepEqual(
        (await query<{ name: string }>(names)).map(({ name }) => name),
        migrationNames,
      );
    await Promise.all(replicas.map(({ close }) => close()));
  });

  test('stay unchanged if their version is newer', async () => {
    const database = await open();
    await database.query({
      text: 'insert into system.kysely_migration (name, timestamp) values ($1, $2)',
      values: ['9999-tomorrow', new Date().toISOString()],
    });
    await database.close();
    await assert.rejects(open(), {
      name: 'ConfigError',
      message: /^The database was made by a newer version: it has 9999-tomorrow\. Run that version/,
    });
  });
});

describe('a server that is too old', { skip: skipWithoutDatabase }, () => {
  let temporary: TemporaryDatabase;
  before(async () => {
    temporary = await createEmptyDatabase(process.env.TEST_DATABASE_URL ?? '');
  });
  after(() => temporary.drop());

  test('is refused with an explanation, and nothing is created in it', async () => {
    const client = new pg.Client({ connectionString: temporary.url });
    await client.connect();
    await client.query(`create schema fourteen;
      create function fourteen.current_setting(name text) returns text language sql
      as $$ select case name when 'server_version' then '14.22' else '140022' end $$`);
    const url = new URL(temporary.url);
    url.searchParams.set('options', '-c search_path=fourteen,pg_catalog');
    await assert.rejects(openDatabase({ url: url.href, name: 'test', log: createLogger('test', 'silent') }), {
      name: 'ConfigError',
      message: 'SERVICE_DATABASE_URL names a PostgreSQL 14.22: 15 or newer is needed.',
    });
    const { rows } = await client.query("select to_regnamespace('system') as system");
    assert.deepEqual(rows, [{ system: null }]);
    await client.end();
  });
});

/** A deployment of the first version with one row of each kind. */
const firstDeployment = [
  'create schema system',
  'create table system.kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)',
  ...['0001-foundation', '0002-webhooks'].flatMap((name) => [
    ...(migrations[name] ?? []),
    `insert into system.kysely_migration values ('${name}', '2026-11-21T00:00:00.000Z')`,
  ]),
  `insert into system.collections values
     ('c1', 'posts', 'base', '[{"id":"f1","name":"title","type":"text"}]', null, '', null, '', null, null, false, 1, 2)`,
  'create table records.posts (id text collate "C" primary key, title text, created_at bigint, updated_at bigint)',
  "insert into records.posts values ('r1', 'kept', 1, 2)",
  "insert into system.admins values ('a1', 'Ada@example.com', 'hash', 3, 1, 2)",
  "insert into system.settings values ('app.name', 'kept', 1)",
  "insert into system.instance values ('id', 'kept')",
  "insert into system.outbox (event_id, event, record_key, body) values (gen_random_uuid(), 'posts.create', 'r1', '{}')",
  `insert into system.webhooks (id, name, url, events, secret, retry_max, retry_backoff, retry_delay_ms, timeout_ms)
     values ('w1', 'all', 'http://127.0.0.1', '{posts.*}', 'whsec_kept', 3, 'fixed', 1000, 1000)`,
  "select system.ensure_event_day('2026-01-01')",
  "insert into system.events values (gen_random_uuid(), '2026-01-01T12:00:00Z', 'posts.create', '{}', null)",
  `insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status)
     select gen_random_uuid(), occurred_at, id, 'w1', event, 'pending' from system.events`,
  `insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id)
     select id, occurred_at, event_id, webhook_id from system.deliveries`,
];

const tables = [
  'system.collections',
  'records.posts',
  'system.admins',
  'system.settings',
  'system.instance',
  'system.outbox',
  'system.webhooks',
  'system.events',
  'system.deliveries',
  'system.delivery_queue',
];

test('the data of the first release survives every migration', {
  skip: skipWithoutDatabase,
}, async () => {
  const temporary = await createEmptyDatabase(process.env.TEST_DATABASE_URL ?? '');
  const client = new pg.Client({ connectionString: temporary.url });
  await client.connect();
  const rowsOf = async (table: string): Promise<unknown[]> =>
    (await client.query(`select to_jsonb(t) as row from ${table} t`)).rows;
  for (const statement of firstDeployment) await client.query(statement);
  const before: unknown[][] = [];
  for (const table of tables) before.push(await rowsOf(table));

  const database = await openDatabase({ url: temporary.url, name: 'test', log: createLogger('test', 'silent') });
  await database.close();
  const applied = await client.query('select name from system.kysely_migration order by name');
  assert.deepEqual(
    applied.rows.map(({ name }) => name),
    migrationNames,
  );
  for (const [index, table] of tables.entries()) {
    assert.equal(before[index]?.length, 1, table);
    assert.partialDeepStrictEqual(await rowsOf(table), before[index], table);
  }
  await client.end();
  await temporary.drop();
});
