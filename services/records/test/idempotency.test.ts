import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '@recordbus/shared/testing';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

describe('creating with an idempotency key', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    records = await startRecords([testCollection('orders', [{ name: 'title', options: { unique: true } }])]);
  });
  after(() => records?.stop());

  const create = (title: string, key: string) =>
    records.send('POST', '/api/orders', { body: { title }, headers: { 'x-service-idempotency-key': key } });
  const rowsOf = <R>(text: string, values: unknown[] = []) => records.database.query<R>({ text, values });
  const untilRow = (text: string, values: unknown[] = []) =>
    eventually(async () => (await rowsOf(text, values)).length > 0);

  it('commits the record and its answer together, or neither if the record is refused', async () => {
    const first = await create('one', 'k1');
    assert.equal(first.status, 201, first.text);
    const again = await create('one', 'k1');
    assert.deepEqual([again.status, again.text], [201, first.text]);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual((await create('one', 'k2')).json.details, { title: 'is already taken' });
    assert.equal((await create('two', 'k2')).status, 201);
  });

  it('rolls back the work of a process that was considered dead', async () => {
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%records."orders"%'
      having count(*) >= $1`;
    let second: ReturnType<typeof create> | undefined;
    let first: ReturnType<typeof create> | undefined;
    await records.database.transaction(async (query) => {
      await query({ text: 'lock table records.orders', values: [] });
      first = create('raced', 'k3');
      await untilRow(waiting, [1]);
      assert.equal((await create('raced', 'k3')).status, 409);
      await rowsOf("update system.idempotency_keys set lease_until = now() - interval '1 second' where answer is null");
      second = create('other', 'k3');
      await untilRow(waiting, [2]);
    });
    const [late, heir] = await Promise.all([first, second]);
    assert.deepEqual([late?.status, late?.json.code, heir?.status], [409, 'idempotency_key_in_use', 201]);
    assert.deepEqual(await rowsOf("select title from records.orders where title in ('raced', 'other')"), [
      { title: 'other' },
    ]);
    assert.equal((await create('other', 'k3')).text, heir?.text);
  });
});
