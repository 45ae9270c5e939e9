import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import pg from 'pg';
import { ownMigrations } from '../migrations/migrations.ts';
import { createEmptyDatabase, skipWithoutDatabase } from '../temporary-database.ts';
import { migrate } from './migrate.ts';

test('a migration that waits for a table lets other statements pass', { skip: skipWithoutDatabase }, async () => {
  await using cleanUp = new AsyncDisposableStack();
  const temporary = await createEmptyDatabase(process.env.TEST_DATABASE_URL ?? '');
  cleanUp.defer(() => temporary.drop());
  const pool = new pg.Pool({ connectionString: temporary.url, max: 4 });
  // A pool has ended before its last connection closes, which the drop may end first.
  pool.on('error', () => undefined);
  cleanUp.defer(() => pool.end());
  const query = async ({ text, values }: { text: string; values: readonly unknown[] }) =>
    (await pool.query(text, [...values])).rows;
  const log = createLogger('test', 'silent');
  const warnings: unknown[] = [];
  const heard = Object.assign(Object.create(log), { warn: (fields: unknown) => warnings.push(fields) });
  await migrate(query, pool, log);

  const reader = await pool.connect();
  // The pool waits for its connection.
  cleanUp.defer(() => reader.release(true));
  await reader.query('begin; select from system.instance');
  const later = {
    names: [...ownMigrations.names, '9000-later'],
    read: (name: string) =>
      name === '9000-later' ? 'alter table system.instance add column later text' : ownMigrations.read(name),
  };
  const migrating = migrate(query, pool, heard, later);
  const writer = new pg.Client({ connectionString: temporary.url });
  await writer.connect();
  cleanUp.defer(() => writer.end());
  await eventually(async () => {
    await writer.query('select key from system.instance');
    await writer.query("insert into system.instance values ('waits', 'no') on conflict (key) do nothing");
    return warnings.length >= 2;
  });
  await reader.query('commit');
  await migrating;
  assert.deepEqual((await pool.query("select later from system.instance where key = 'waits'")).rows, [{ later: null }]);
});
