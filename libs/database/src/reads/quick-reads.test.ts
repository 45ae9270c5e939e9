import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import pg from 'pg';
import { quickBudget, shapedReadBudget } from '../connections/connection-budget.ts';
import { createQuickStatements } from '../connections/quick-statements.ts';
import type { ReadLane } from '../connections/read-lane.ts';
import { sqlState } from '../errors.ts';
import type { Statement } from '../statement.ts';
import { createQuickReads } from './quick-reads.ts';
import { createSlowReaders } from './slow-readers.ts';

const statement: Statement = { name: 'list', text: 'select', values: [] };

/** Quick reads with a statement that is known to be quick. */
function createReads({ read = async (): Promise<unknown[]> => [1], keeps = true }) {
  const statements = createQuickStatements();
  const slowReaders = createSlowReaders();
  statements.noteRun(statement, 1);
  const reads = createQuickReads({
    lane: { read } as unknown as ReadLane,
    statements,
    slowReaders,
    longWidth: { noteShortWork() {} },
    places: { keeps: () => keeps },
  });
  return { reads, slowReaders, statements };
}

function databaseError(code: string): Error {
  const error = new pg.DatabaseError('refused', 0, 'error');
  error.code = code;
  return error;
}

describe('quick reads', () => {
  test('read statements that are known to be quick, and no others', async () => {
    const { reads } = createReads({});
    assert.deepEqual(await reads.tryRead('a', statement), [1]);
    assert.equal(await reads.tryRead('a', { ...statement, name: 'other' }), undefined);
  });

  test('serve a client up to its limit, and other clients too', async () => {
    const answer = Promise.withResolvers<unknown[]>();
    const { reads } = createReads({ read: () => answer.promise });
    const asked: Promise<unknown>[] = [];
    let refused = 0;
    while (asked.length < shapedReadBudget.quickPerClient) {
      const read = reads.tryRead('a', statement);
      const first = await Promise.race([read, new Promise((resolve) => setImmediate(resolve, 'waits'))]);
      if (first === 'waits') asked.push(read);
      else refused += 1;
    }
    // The refused ones are the runs that test whether the statement is still quick.
    assert.ok(refused <= Math.ceil(shapedReadBudget.quickPerClient / (quickBudget.runsPerProbe - 1)));
    assert.equal(await reads.tryRead('a', statement), undefined);
    const other = reads.tryRead('b', statement);
    answer.resolve([2]);
    assert.deepEqual(await Promise.all([...asked, other]), Array(asked.length + 1).fill([2]));
    assert.deepEqual(await reads.tryRead('a', statement), [2]);
  });

  test('do not finish a read that takes too long, and stop treating its statement as quick', async () => {
    const { reads, statements } = createReads({ read: () => Promise.reject(databaseError(sqlState.queryCanceled)) });
    assert.equal(await reads.tryRead('a', statement), undefined);
    statements.noteRun(statement, 1);
    assert.equal(statements.mayShare(statement), false);
  });

  test('throw other errors', async () => {
    const { reads } = createReads({ read: () => Promise.reject(databaseError('22012')) });
    await assert.rejects(reads.tryRead('a', statement), { code: '22012' });
  });

  test('serve no client whose recent reads were slow', async () => {
    const { reads, slowReaders } = createReads({});
    slowReaders.note('a', { text: 'slow', values: [] });
    assert.equal(await reads.tryRead('a', statement), undefined);
    assert.deepEqual(await reads.tryRead('b', statement), [1]);
  });

  test('drop a large answer if there is no room for it', async () => {
    const { reads } = createReads({ keeps: false });
    assert.equal(await reads.tryRead('a', statement), undefined);
  });
});
