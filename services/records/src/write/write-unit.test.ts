import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Query } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { widestMode } from './write-mode.ts';
import { createRunWrite, type RunWrite, runWithin, type WriteUnit } from './write-unit.ts';

describe('a unit of work that writes', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let write: RunWrite;
  let done: string[] = [];

  before(async () => {
    temporary = await openTemporaryDatabase();
    const { database } = temporary;
    await database.query({ text: 'create table numbers (n integer primary key)', values: [] });
    const add = (name: string) => () => void done.push(name);
    const afterCommit = {
      wakeRelay: add('wakeRelay'),
      sweepFiles: add('sweepFiles'),
      notifyGateways: add('notifyGateways'),
      sendMails: add('sendMails'),
      startJobs: add('startJobs'),
      startErasures: add('startErasures'),
    };
    write = createRunWrite({ database, relaxed: database.of('relaxedWrites'), afterCommit });
  });
  after(() => temporary?.remove());
  beforeEach(async () => {
    await temporary.database.query({ text: 'delete from numbers', values: [] });
    done = [];
  });

  const insert = ({ query }: Pick<WriteUnit, 'query'>, n: number) =>
    query({ text: 'insert into numbers values ($1)', values: [n] });
  const stored = async () =>
    (await temporary.database.query<{ n: number }>({ text: 'select n from numbers order by n', values: [] })).map(
      ({ n }) => n,
    );
  const transactionOf = async (query: Query) => {
    const [row] = await query<{ id: string }>({ text: 'select pg_current_xact_id()::text as id', values: [] });
    return row?.id;
  };

  for (const [mode, isRelaxed, expected] of [
    ['statement', true, 'off'],
    ['transaction', true, 'off'],
    ['hooked', true, 'on'],
    ['statement', false, 'on'],
    ['transaction', false, 'on'],
  ] as const)
    it(`waits for the disk: ${expected} (${mode}, ${isRelaxed ? 'relaxed' : 'full'}) [collections §1.6]`, async () => {
      const settings = await write({ mode, isRelaxed }, ({ query }) =>
        query<{ value: string }>({ text: "select current_setting('synchronous_commit') as value", values: [] }),
      );
      assert.deepEqual(settings, [{ value: expected }]);
    });

  for (const mode of ['statement', 'transaction', 'hooked'] as const) {
    it(`runs after-commit work once (${mode})`, async () => {
      const result = await write({ mode }, async (unit) => {
        await insert(unit, 1);
        for (const name of ['wakeRelay', 'sweepFiles', 'wakeRelay'] as const) unit.due.add(name);
        assert.deepEqual(done, []);
        return 'written';
      });
      assert.equal(result, 'written');
      assert.deepEqual([await stored(), done], [[1], ['wakeRelay', 'sweepFiles']]);
    });

    it(`runs no after-commit work when the work throws (${mode})`, async () => {
      const failing = write({ mode }, async (unit) => {
        unit.due.add('wakeRelay');
        await insert(unit, 1);
        await insert(unit, 1);
      });
      await assert.rejects(failing, /duplicate key/);
      assert.deepEqual([await stored(), done], [mode === 'statement' ? [1] : [], []]);
    });
  }

  it('is one transaction only in a mode with a transaction', async () => {
    const idsIn = (mode: 'statement' | 'transaction') =>
      write({ mode }, async ({ query }) => [await transactionOf(query), await transactionOf(query)]);
    const [first, second] = await idsIn('statement');
    assert.notEqual(first, second);
    const [third, fourth] = await idsIn('transaction');
    assert.equal(third, fourth);
  });

  it("keeps an answer in the work's transaction", async () => {
    const refused = write(
      {
        mode: 'statement',
        async keepAnswer(answer: number, query) {
          assert.equal(answer, 7);
          await query({ text: 'insert into numbers values ($1)', values: [answer] });
          throw new Error('another request has the key');
        },
      },
      async (unit) => {
        await insert(unit, 1);
        unit.due.add('wakeRelay');
        return 7;
      },
    );
    await assert.rejects(refused, /another request has the key/);
    assert.deepEqual([await stored(), done], [[], []]);
  });

  it("drops an attempt's after-commit work when it failed because of another transaction", async () => {
    let attempts = 0;
    await write({ mode: 'transaction' }, async (unit) => {
      attempts += 1;
      await insert(unit, attempts);
      unit.due.add(attempts === 1 ? 'sendMails' : 'wakeRelay');
      if (attempts === 1)
        await unit.query({ text: `do $$ begin raise exception using errcode = '40P01'; end $$`, values: [] });
    });
    assert.deepEqual([attempts, await stored(), done], [2, [2], ['wakeRelay']]);
  });

  it('leaves the commit and the after-commit work to the outer unit', async () => {
    await write({ mode: 'transaction' }, async (unit) => {
      await runWithin(unit)({ mode: 'hooked' }, async (inner) => {
        await insert(inner, 1);
        inner.due.add('wakeRelay');
      });
      assert.deepEqual([await stored(), done], [[], []]);
    });
    assert.deepEqual([await stored(), done], [[1], ['wakeRelay']]);
  });
});

it("a unit's mode is the widest that its parts need", () => {
  assert.equal(widestMode('statement', 'transaction'), 'transaction');
  assert.equal(widestMode('hooked', 'statement', 'transaction'), 'hooked');
  assert.equal(widestMode(), 'statement');
});
