import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import pg from 'pg';
import { describeCatalog } from '../migrations/catalog.testing.ts';
import { lastBeforeSchema, ownMigrations, readMigrations, schemaName } from '../migrations/migrations.ts';
import { createEmptyDatabase, skipWithoutDatabase, type TemporaryDatabase } from '../temporary-database.ts';
import { migrate } from './migrate.ts';

const log = createLogger('test', 'silent');

/** A migrations folder like a later version's: with one addition. */
const folder = mkdtempSync(join(tmpdir(), 'recordbus-migrations-'));
after(() => rmSync(folder, { recursive: true }));
copyFileSync(join(import.meta.dirname, '../migrations/schema.sql'), join(folder, 'schema.sql'));
const addition = '9000-later';
writeFileSync(
  join(folder, `${addition}.sql`),
  'alter table system.instance add column later text; create index later on system.instance (later);',
);
const later = readMigrations(folder);

describe('tables from before schema.sql', { skip: skipWithoutDatabase }, () => {
  let temporary: TemporaryDatabase;
  let pool: pg.Pool;

  const run = async (migrations = ownMigrations): Promise<void> =>
    migrate(async ({ text, values }) => (await pool.query(text, [...values])).rows, pool, log, migrations);
  const names = async (): Promise<string[]> =>
    (await pool.query('select name from system.kysely_migration order by name')).rows.map(({ name }) => name);

  /** Makes the tables as the version before left them: those from `schema.sql`, under its migrations' names. */
  const makeEarlier = async (applied: readonly string[]): Promise<void> => {
    await pool.query('create schema system');
    await pool.query(ownMigrations.read(schemaName));
    await pool.query(
      'create table system.kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)',
    );
    await pool.query(`insert into system.kysely_migration select unnest($1::text[]), '2026-11-21T00:00:00.000Z'`, [
      applied,
    ]);
    await pool.query("insert into system.instance values ('id', 'kept')");
  };

  before(async () => {
    temporary = await createEmptyDatabase(process.env.TEST_DATABASE_URL ?? '');
    pool = new pg.Pool({ connectionString: temporary.url, max: 4 });
    // A pool has ended before its last connection closes, which the drop may end first.
    pool.on('error', () => undefined);
  });
  beforeEach(() => pool.query('drop schema if exists system, records, history, links, search cascade'));
  after(async () => {
    await pool.end();
    await temporary.drop();
  });

  test('count as migrated when they have the last migration', async () => {
    const applied = ['0001-foundation', '0100-bounded-requests', lastBeforeSchema];
    await makeEarlier(applied);
    await run({ ...ownMigrations, names: [schemaName] });
    assert.deepEqual(await names(), applied);
    assert.deepEqual((await pool.query('select * from system.instance')).rows, [{ key: 'id', value: 'kept' }]);
  });

  test('are refused without the last migration, by a sentence that says what to start, and stay as they are', async () => {
    const applied = ['0001-foundation', '0100-bounded-requests'];
    await makeEarlier(applied);
    await assert.rejects(run(), {
      name: 'ConfigError',
      message:
        'The tables are too old: they end with 0100-bounded-requests, and this version needs ' +
        `${lastBeforeSchema}. Start the version that ends with ${lastBeforeSchema} once, then this one (docs/operations.md, Upgrade).`,
    });
    await assert.rejects(run(later), { name: 'ConfigError' });
    assert.deepEqual(await names(), applied);
  });

  test('get a later addition like new tables', async () => {
    await run(later);
    assert.deepEqual(await names(), [schemaName, addition]);
    const client = new pg.Client({ connectionString: temporary.url });
    await client.connect();
    const fresh = await describeCatalog(client);
    assert.ok(fresh.some((line) => line.startsWith('column system.instance.later ')));

    await pool.query('drop schema if exists system, records, history, links, search cascade');
    await makeEarlier(['0001-foundation', lastBeforeSchema]);
    await run(later);
    assert.deepEqual(await names(), [schemaName, addition]);
    assert.deepEqual(await describeCatalog(client), fresh);
    assert.deepEqual((await pool.query('select * from system.instance')).rows, [
      { key: 'id', value: 'kept', later: null },
    ]);
    await client.end();
  });

  test('do not get half an addition when it fails', async () => {
    await makeEarlier([lastBeforeSchema]);
    await assert.rejects(
      run({
        names: [...later.names, '9001-fails'],
        read: (name) => (name === '9001-fails' ? 'select 1/0' : later.read(name)),
      }),
      {
        name: 'StartFailure',
        message:
          "The migration 9001-fails failed: division by zero. The tables are unchanged, and the previous version's " +
          'services keep working: leave them running, remove the cause, and start this version again.',
      },
    );
    assert.deepEqual(await names(), [schemaName]);
    const { rows } = await pool.query("select from information_schema.columns where column_name = 'later'");
    assert.equal(rows.length, 0);
    await run(later);
  });
});
