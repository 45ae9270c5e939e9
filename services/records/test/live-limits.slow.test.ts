import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { LiveCaller } from '@recordbus/live';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const guest: LiveCaller = { principal: { type: 'guest', rejectedToken: false }, headers: {}, query: {} };

describe('rules that take long to judge', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    const slow = 'exists(slow, id != record.id)';
    const asleep = "select 'a' || pg_sleep(60)::text as id, 0::bigint as created_at, 0::bigint as updated_at";
    records = await startRecords([
      testCollection('slow', [], { type: 'view', viewQuery: asleep }),
      testCollection('posts', [{ name: 'title' }], {
        rules: { list: slow, view: null, create: null, update: null, delete: null },
      }),
    ]);
  });
  after(() => records?.stop());

  it('are refused with a code, and delay no get', async () => {
    const { record } = await records.send('POST', '/api/posts', { as: 'admin', body: { title: 'a' } });
    const [opened] = await records.live.open([{ request: { collection: 'posts' }, caller: guest }]);
    assert.ok(opened && 'plan' in opened);
    const [row] = await records.database.query<{ body: string }>({
      text: 'select body from system.outbox',
      values: [],
    });
    const { id, version, schema } = JSON.parse(row?.body ?? '');
    const event = { id, verb: 'create', version, schema, data: JSON.stringify({ record }) } as const;
    const judging = Array.from({ length: 20 }, (_, client) =>
      records.live.judge({ plan: opened.plan, events: [event], client: `${client}`, callers: [] }),
    );
    const settled = Promise.allSettled(judging);
    let isJudged = false;
    void settled.then(() => {
      isJudged = true;
    });
    for (let n = 0; n < 20; n += 1) assert.equal((await records.send('GET', `/api/posts/${record.id}`)).status, 200);
    assert.equal(isJudged, false, 'the gets waited for the rules');
    const outcomes = await settled;
    const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done'));
    assert.ok(codes.includes('too_expensive'), codes.join());
    assert.deepEqual(
      [...new Set(codes)].sort().filter((code) => code !== 'too_expensive' && code !== 'unavailable'),
      [],
    );
  });
});
