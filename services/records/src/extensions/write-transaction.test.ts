import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Query } from '@recordbus/database';
import { openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import type { DueWork } from '../write/after-commit.ts';
import { divideTransaction } from './write-transaction.ts';

test('a part that fails leaves no after-commit work', { skip: skipWithoutDatabase }, async (context) => {
  const temporary = await openTemporaryDatabase();
  context.after(() => temporary.remove());
  const due: DueWork = new Set();
  await temporary.database.transaction(async (query: Query) => {
    const transaction = divideTransaction({ query, due });
    await transaction.part(async (part) => {
      part.due.add('wakeRelay');
      const failed = part.part(async (inner) => {
        inner.due.add('sendMails');
        await inner.query({ text: 'select 1 / 0', values: [] });
      });
      await assert.rejects(failed, /division by zero/);
    });
    transaction.close();
  });
  assert.deepEqual([...due], ['wakeRelay']);
});
