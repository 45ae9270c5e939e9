import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Query } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import type { AnswerAsk, ExtensionWorker } from '@recordbus/extension-host';
import { createRunWrite } from '../write/write-unit.ts';
import { rootScope } from './call-scope.ts';
import { createWithTransactions } from './call-transactions.ts';
import type { Toolbox } from './tools/toolbox.ts';

const scope = rootScope({
  requestId: 'r1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  principal: { type: 'guest', rejectedToken: false },
  clientAddress: '',
});
const worker: ExtensionWorker = {
  loaded: Promise.reject(new Error('none')),
  ended: Promise.resolve(''),
  run: () => Promise.reject(new Error('none')),
  end() {},
};
worker.loaded.catch(() => {});

describe("a call's transactions", { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let query: Query;
  let commits = 0;
  const nothing = () => {};
  const afterCommit = {
    wakeRelay() {
      commits += 1;
    },
    sweepFiles: nothing,
    notifyGateways: nothing,
    sendMails: nothing,
    startJobs: nothing,
    startErasures: nothing,
  };
  /** Runs SQL in the transaction or in a part of it. */
  const toolbox: Toolbox =
    (_extension, { transaction }) =>
    async (method, [text]) => {
      const statement = { text: String(text), values: [] };
      if (method === 'sql.part')
        return transaction?.part((part) => {
          part.due.add('wakeRelay');
          return part.query(statement);
        });
      return (transaction?.query ?? query)(statement);
    };
  const call = <T>(work: (ask: (method: string, ...args: unknown[]) => Promise<unknown>) => Promise<T>) =>
    createWithTransactions({
      toolbox,
      write: createRunWrite({ database: temporary.database, afterCommit }),
    })('extension', scope, (answer: AnswerAsk) => work((method, ...args) => answer(method, args, worker)));
  const insert = (value: number) => `insert into numbers values (${value})`;
  const found = async () =>
    (await query<{ n: number }>({ text: 'select n from numbers order by n', values: [] })).map(({ n }) => n);

  before(async () => {
    temporary = await openTemporaryDatabase();
    query = temporary.database.query;
    await query({ text: 'create table numbers (n integer primary key)', values: [] });
  });
  after(() => temporary?.remove());

  it('commit the work, and run its after-commit work', async () => {
    await call(async (ask) => {
      const number = await ask('transaction.begin');
      await ask('transaction.ask', number, 'sql.part', [insert(1)]);
      assert.deepEqual(await found(), []);
      await ask('transaction.commit', number);
      assert.deepEqual([await found(), commits], [[1], 1]);
    });
  });

  it('are rolled back when the call ends', async () => {
    await call(async (ask) => {
      const number = await ask('transaction.begin');
      await ask('transaction.ask', number, 'sql.part', [insert(2)]);
    });
    // Waits for the row while it is locked.
    await query({ text: insert(2), values: [] });
    await query({ text: 'delete from numbers where n = 2', values: [] });
  });

  it('run one at a time, and cannot be used after their end', async () => {
    await call(async (ask) => {
      const number = await ask('transaction.begin');
      await assert.rejects(ask('transaction.begin'), /do not nest/);
      assert.equal(await ask('transaction.rollback', number), false);
      await assert.rejects(ask('transaction.ask', number, 'sql.part', [insert(3)]), /is over/);
      const other = await ask('transaction.begin');
      await assert.rejects(ask('transaction.commit', number), /is over/);
      await ask('transaction.commit', other);
    });
  });

  it('never report an aborted transaction as committed', async () => {
    await call(async (ask) => {
      const number = await ask('transaction.begin');
      await ask('transaction.ask', number, 'sql.part', [insert(4)]);
      await assert.rejects(ask('transaction.ask', number, 'sql.whole', ['select 1 / 0']));
      await assert.rejects(ask('transaction.commit', number), /aborted/);
    });
    assert.deepEqual(await found(), [1]);
  });

  it('continue after a part that failed', async () => {
    await call(async (ask) => {
      const number = await ask('transaction.begin');
      await assert.rejects(ask('transaction.ask', number, 'sql.part', [insert(1)]), /duplicate key/);
      void ask('transaction.ask', number, 'sql.part', [insert(5)]);
      await ask('transaction.commit', number);
    });
    assert.deepEqual(await found(), [1, 5]);
  });
});
