import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createLogger } from '@recordbus/shared/logging';
import { openDatabase } from './database.ts';
import { migrationNames } from './migrations/index.ts';
import { createTemporaryDatabase, skipWithoutDatabase, type TemporaryDatabase } from './temporary-database.ts';

describe('the system tables', { skip: skipWithoutDatabase }, () => {
  let temporary: TemporaryDatabase;
  before(async () => {
    temporary = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
  });
  after(() => temporary.drop());

  const open = () => openDatabase({ url: temporary.url, name: 'test', log: createLogger('test', 'silent') });
  const names = { text: 'select name from system.kysely_migration order by name', values: [] };

  test('are made once by replicas that start at the same time', async () => {
    const replicas = await Promise.all([open(), open(), open()]);
    for (const { query } of replicas)
      assert.deepEqual(
        (await query<{ name: string }>(names)).map(({ name }) => name),
        migrationNames,
      );
    await Promise.all(replicas.map(({ close }) => close()));
  });

  test('of a newer version are left alone', async () => {
    const database = await open();
    await database.query({
      text: 'insert into system.kysely_migration (name, timestamp) values ($1, $2)',
      values: ['9999-tomorrow', new Date().toISOString()],
    });
    await database.close();
    await assert.rejects(open(), /made by a newer version: it has 9999-tomorrow/);
  });
});
