import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cutMembers } from '@recordbus/bus';
import type { LiveCaller, LiveEvent } from '@recordbus/live';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const guest: LiveCaller = { principal: { type: 'guest', rejectedToken: false }, headers: {}, query: {} };

describe('judging the deletes of erased records', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    const rules = { list: 'name = "shown"', view: '', create: null, update: null, delete: null };
    const fields = [
      { name: 'email', type: 'email', system: true, required: true },
      { name: 'verified', type: 'bool', system: true },
      { name: 'name' },
    ] as const;
    records = await startRecords([testCollection('people', fields, { type: 'auth', rules })]);
    // No worker takes the erasures' jobs, so the outbox is not cleaned.
    for (const text of [
      `create function hold() returns trigger language plpgsql as $$ begin
        new.lease_until := now() + interval '1 hour'; return new; end $$`,
      'create trigger hold before insert on system.data_jobs for each row execute function hold()',
    ])
      await records.database.query({ text, values: [] });
  });
  after(() => records?.stop());

  const takeDeletes = async (): Promise<LiveEvent[]> => {
    const text = 'select body from system.outbox where records_added < 0 order by id';
    const rows = await records.database.query<{ body: string }>({ text, values: [] });
    return rows.map(({ body }) => {
      const { id, version, schema } = JSON.parse(body);
      return { id, verb: 'delete', version, schema, data: cutMembers(body).get('data') };
    });
  };
  const judge = async () => {
    const [opened] = await records.live.open([{ request: { collection: 'people' }, caller: guest }]);
    assert.ok(opened && 'plan' in opened);
    const events = await takeDeletes();
    const verdicts = await records.live.judge({ plan: opened.plan, events, client: 'test', callers: [opened.values] });
    assert.ok(!verdicts.isStale);
    return verdicts.events;
  };

  it('by what they were, as long as the job has not cleaned the outbox [privacy §2.2]', async () => {
    const ids: string[] = [];
    for (const name of ['shown', 'hidden']) {
      const body = { email: `${name}@example.com`, password: 'a long and winding password', name };
      const { record, text } = await records.send('POST', '/api/people', { as: 'admin', body });
      assert.ok(record, text);
      const principal = { email: body.email, collection: 'people', anonymous: false, impersonatedBy: null } as const;
      const as = { type: 'user', id: record.id, ...principal } as const;
      assert.equal((await records.send('DELETE', `/api/people/${record.id}`, { as })).status, 200);
      ids.push(record.id);
    }
    const deletes = await takeDeletes();
    assert.deepEqual(
      deletes.map(({ data }) => JSON.parse(data ?? '')),
      ids.map((id) => ({ record: { id } })),
    );
    const verdicts = await judge();
    assert.deepEqual(
      verdicts.map(({ before, now }) => [before, now]),
      [
        ['all', []],
        [[], []],
      ],
    );
    assert.ok(!JSON.stringify(verdicts).includes('shown'), JSON.stringify(verdicts));
  });

  it('not at all afterwards: clients read again', async () => {
    await records.database.query({ text: 'update system.outbox set sealed = null', values: [] });
    assert.deepEqual(
      (await judge()).map(({ isLost }) => isLost),
      [true, true],
    );
  });
});
