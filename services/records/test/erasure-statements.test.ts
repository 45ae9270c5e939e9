import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tableOf } from '@recordbus/schema';
import { eventually } from '@recordbus/testing';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { openStatementLog, type StatementLog } from './statement-log.ts';
import { testCollection } from './test-collection.ts';

/** Two parts of 2,000 records, and the owner. */
const cascades = 3000;

describe("an erasure's statements", { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;
  let statements: StatementLog;
  const things = testCollection('things', [
    { name: 'owner', type: 'relation', collection: 'owners', options: { cascade: 'cascade' } },
  ]);

  before(async () => {
    statements = await openStatementLog(process.env.TEST_DATABASE_URL ?? '');
    const owners = testCollection('owners', [{ name: 'name' }]);
    records = await startRecords([owners, things, testCollection('others', [{ name: 'name' }])], { statements });
    for (const text of [
      `insert into ${tableOf(owners)} (id, created_at, updated_at) values ('the-owner-of-all', 1, 1)`,
      `insert into ${tableOf(things)} (id, created_at, updated_at, owner)
        select 'thing-of-the-owner-' || n, 1, 1, 'the-owner-of-all' from generate_series(1, ${cascades}) n`,
    ])
      await records.database.query({ text, values: [] });
  });
  after(async () => {
    await records?.stop();
    await statements?.close();
  });

  it('ask which ids others have too once for each part, not for each place', async () => {
    const answer = await records.send('POST', '/api/v1/admin/erase/owners/the-owner-of-all', { as: 'admin', body: {} });
    assert.equal(answer.status, 202, answer.text);
    const job = await eventually(async () => {
      const { json } = await records.send('GET', `/api/v1/jobs/${answer.record.id}`, { as: 'admin' });
      const { state, certificate } = json.data as { state: string; certificate: { records: number } | null };
      return state === 'done' ? certificate : undefined;
    });
    assert.equal(job?.records, cascades + 1);
    const asked = statements.take('as named (name)');
    const [row] = await records.database.query<{ claims: number }>({
      text: 'select fence::integer as claims from system.data_jobs where id = $1',
      values: [answer.record.id],
    });
    // The owner is one part, the things are two. Each claim asks again.
    const most = 3 * Number(row?.claims);
    assert.ok(asked.length >= 3 && asked.length <= most, `${asked.length} statements`);
  });
});
