import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import pg from 'pg';
import { openDatabase } from '../database.ts';
import { ownMigrations } from '../migrations/migrations.ts';
import { createEmptyDatabase, skipWithoutDatabase, type TemporaryDatabase } from '../temporary-database.ts';

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
        ownMigrations.names,
      );
    await Promise.all(replicas.map(({ close }) => close()));
  });

  test('are refused if a newer version removed what this one needs', async () => {
    await addMigration('9999-tomorrow-needs-9998');
    await assert.rejects(open(), {
      name: 'ConfigError',
      message: /^The database was made by a newer version: it has 9999-tomorrow-needs-9998\. Run that version/,
    });
  });

  test('are used if newer versions only added to them, or removed what this one no longer needs', async () => {
    const newest = ownMigrations.names.at(-1)?.slice(0, 4);
    for (const name of ['9999-tomorrow', `9999-tomorrow-needs-${newest}`]) {
      await addMigration(name);
      const database = await open();
      assert.deepEqual((await database.query<{ name: string }>(names)).at(-1), { name });
      await database.close();
    }
  });

  /** Replaces the newer version's migration. */
  async function addMigration(name: string): Promise<void> {
    const client = new pg.Client({ connectionString: temporary.url });
    await client.connect();
    await client.query("delete from system.kysely_migration where name like '9999%'");
    await client.query("insert into system.kysely_migration values ($1, '2099-01-01T00:00:00.000Z')", [name]);
    await client.end();
  }
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
