import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { openDatabase } from '../database.ts';
import { isDatabaseError, sqlState } from '../errors.ts';
import type { Query } from '../statement.ts';
import { createTemporaryDatabase, skipWithoutDatabase } from '../temporary-database.ts';

const sleep = (seconds: number) => ({ text: `select pg_sleep(${seconds})`, values: [] });

/** Uses up the time, and a statement that alone would have enough of it is cancelled. */
async function useUp(together: Query): Promise<void> {
  const isCanceled = (error: unknown) => isDatabaseError(error, sqlState.queryCanceled);
  await assert.rejects(together(sleep(60)), isCanceled);
  await assert.rejects(together(sleep(0.2)), isCanceled);
}

test('reads that belong together have the time of one', { skip: skipWithoutDatabase }, async (t) => {
  const temporary = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
  const database = await openDatabase({ url: temporary.url, name: 'test', log: createLogger('test', 'silent') });
  try {
    await t.test('each on its own connection', () => useUp(database.reads.together(2000)));
    await t.test('short ones too', () => useUp(database.reads.together(240)));
    await t.test('in one snapshot', async () => {
      await database.reads.shapedTransaction(async (query, together) => {
        await query({ text: 'savepoint before', values: [] });
        const undoing: Query = async (statement) => {
          try {
            return await together(statement);
          } catch (error) {
            await query({ text: 'rollback to savepoint before', values: [] });
            throw error;
          }
        };
        await useUp(undoing);
      }, 2000);
    });
  } finally {
    await database.close();
    await temporary.drop();
  }
});
