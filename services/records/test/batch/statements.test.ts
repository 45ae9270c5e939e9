import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from '../records-fixture.ts';
import { openStatementLog, type StatementLog } from '../statement-log.ts';
import { testCollection } from '../test-collection.ts';

describe("a batch's statements", { skip: skipWithoutDatabase }, () => {
  let fixture: RecordsFixture;
  let log: StatementLog;

  before(async () => {
    log = await openStatementLog(process.env.TEST_DATABASE_URL ?? '');
    const fields = [
      { name: 'name' },
      { name: 'code', options: { unique: true } },
      { name: 'n', type: 'number' as const },
    ];
    fixture = await startRecords([testCollection('items', fields, { historyEnabled: true })], { statements: log });
  });
  after(async () => {
    await fixture?.stop();
    await log?.close();
  });

  const numbers = Array.from({ length: 30 }, (_, n) => n);
  const id = (n: number) => `item${n}`;
  const rows: readonly [name: string, operation: (n: number) => object, statements: number][] = [
    ['creates', (n) => ({ op: 'create', data: { name: `c${n}`, code: `c${n}` } }), 1],
    ['creates with ids', (n) => ({ op: 'create', id: id(n), data: { name: `c${n}` } }), 1],
    // The records are locked first, in the same order in all batches.
    ['updates', (n) => ({ op: 'update', id: id(n), data: { name: `u${n}` } }), 2],
    [
      'upserts, half of them of existing records',
      (n) => ({ op: 'upsert', id: id(n + 15), data: { name: `p${n}` } }),
      4,
    ],
    ['updates with operators', (n) => ({ op: 'update', id: id(n), data: { n: { $add: n } } }), 31],
    ['updates of unique values', (n) => ({ op: 'update', id: id(n), data: { code: id(n) } }), 31],
    ['deletes', (n) => ({ op: 'delete', id: id(n) }), 2],
  ];
  for (const [name, operation, statements] of rows)
    it(`of 30 ${name}: ${statements} [batch §4.3]`, async () => {
      log.take('items');
      const operations = numbers.map((n) => ({ collection: 'items', ...operation(n) }));
      const { status, text } = await fixture.send('POST', '/api/v1/batch', { body: { operations } });
      assert.equal(status, 200, text);
      const [unit = [], ...others] = log.take('items');
      assert.deepEqual(others, []);
      const control = /^(begin|commit|savepoint together|release savepoint together)$/;
      assert.equal(unit.filter((one) => !control.test(one)).length, statements, unit.join('\n'));
    });
});
