import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { createEmptyDatabase, skipWithoutDatabase } from '../temporary-database.ts';
import { ownMigrations, schemaName } from './migrations.ts';

test('open announced ranges become removals', { skip: skipWithoutDatabase }, async () => {
  await using cleanUp = new AsyncDisposableStack();
  const temporary = await createEmptyDatabase(process.env.TEST_DATABASE_URL ?? '');
  cleanUp.defer(() => temporary.drop());
  const client = new pg.Client({ connectionString: temporary.url });
  await client.connect();
  cleanUp.defer(() => client.end());
  await client.query('create schema system');
  await client.query(ownMigrations.read(schemaName));
  await client.query(`insert into system.collections (id, name, type, fields, created_at, updated_at)
    values ('c1', 'posts', 'base', '[]', 1, 1)`);
  await client.query(`insert into system.announced_ranges (collection_id, ids_start, due_at, is_over) values
    ('c1', '01938f5e-aa', '2026-01-01', false), ('c1', '01938f5e-aa', '2026-01-02', true),
    ('c1', '01938f5e-ab', '2026-01-01', false), ('c2', '01938f5e-aa', '2026-01-01', false)`);
  await client.query(ownMigrations.read('0102-announced-one-by-one'));
  const { rows } = await client.query(`select collection_id, record_id, name, due_at::date::text as due
    from system.file_removals where record_id is not null order by record_id`);
  assert.deepEqual(rows, [
    { collection_id: 'c1', record_id: '01938f5e-aa', name: '*', due: '2026-01-02' },
    { collection_id: 'c1', record_id: '01938f5e-ab', name: '*', due: '2026-01-01' },
  ]);
  const dropped = await client.query('select collection_id from system.file_removals where record_id is null');
  assert.deepEqual(dropped.rows, [{ collection_id: 'c2' }]);
});
