import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '@recordbus/testing';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

describe('creating with an idempotency key', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    const secret = { name: 'card', options: { encrypted: true } };
    records = await startRecords([
      testCollection('orders', [{ name: 'title', options: { unique: true } }]),
      testCollection('payments', [{ name: 'title' }, secret]),
    ]);
  });
  after(() => records?.stop());

  const create = (title: string, key: string) =>
    records.send('POST', '/api/orders', { body: { title }, headers: { 'x-service-idempotency-key': key } });
  const put = (id: string, title: string, key: string) =>
    records.send('PUT', `/api/orders/${id}`, { body: { title }, headers: { 'idempotency-key': key } });
  /** A create that claims its key first. */
  const pay = (title: string, key: string) =>
    records.send('POST', '/api/payments', { body: { title, card: '4242' }, headers: { 'idempotency-key': key } });
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

  /** Whether so many requests wait for a lock on a table. */
  const waitingFor = (
    table: string,
  ) => `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%records."${table}"%'
      having count(*) >= $1`;

  it("keeps a create's answer in its statement, and encrypts the answer if the record has encrypted fields", async () => {
    const kept =
      'select json, answer is not null as "isSealed" from system.idempotency_keys order by expires_at desc limit 1';
    const plain = await create('kept', 'k4');
    assert.deepEqual(await rowsOf(kept), [{ json: plain.text, isSealed: false }]);
    const paid = await pay('paid', 'k5');
    assert.equal(paid.status, 201, paid.text);
    assert.deepEqual(await rowsOf(kept), [{ json: null, isSealed: true }]);
    assert.equal((await pay('paid', 'k5')).text, paid.text);
  });

  it('creates one record for two simultaneous requests, and gives both the same answer', async () => {
    const answers: ReturnType<typeof create>[] = [];
    await records.database.transaction(async (query) => {
      await query({ text: 'lock table records.orders', values: [] });
      answers.push(create('both', 'k6'), create('both', 'k6'));
      await untilRow(waitingFor('orders'), [2]);
    });
    const [one, other] = await Promise.all(answers);
    assert.deepEqual([one?.status, other?.status, other?.text], [201, 201, one?.text]);
    const replayed = [one, other].map((answer) => answer?.headers.get('idempotency-replayed'));
    assert.deepEqual(replayed.sort(), ['true', null].sort());
    assert.equal((await rowsOf("select from records.orders where title = 'both'")).length, 1);
    assert.equal((await create('else', 'k6')).json.code, 'idempotency_key_reused');
  });

  it('changes a record once for two simultaneous requests with its version', async () => {
    const made = await create('first', 'k8');
    const path = `/api/orders/${made.record.id}`;
    await records.takeEvents();
    const headers = { 'idempotency-key': 'k9', 'if-match': String(made.headers.get('etag')) };
    const change = () => records.send('PATCH', path, { body: { title: 'second' }, headers });
    const answers: ReturnType<typeof create>[] = [];
    await records.database.transaction(async (query) => {
      await query({ text: 'lock table records.orders', values: [] });
      answers.push(change(), change());
      await untilRow(waitingFor('orders'), [2]);
    });
    answers.push(change());
    const seen = await Promise.all(answers);
    assert.deepEqual(
      seen.map(({ status, text }) => [status, text]),
      seen.map(() => [200, seen[0]?.text]),
    );
    assert.deepEqual(
      (await records.takeEvents()).map(({ event }) => event),
      ['orders.update'],
    );
  });

  it('puts a record once for two simultaneous requests, and gives both the same answer', async () => {
    for (const [title, key, status] of [
      ['new', 'k10', 201],
      ['changed', 'k11', 200],
    ] as const) {
      await records.takeEvents();
      const answers: ReturnType<typeof put>[] = [];
      await records.database.transaction(async (query) => {
        await query({ text: 'lock table records.orders', values: [] });
        answers.push(put('an-order-of-mine', title, key), put('an-order-of-mine', title, key));
        await untilRow(waitingFor('orders'), [2]);
      });
      answers.push(put('an-order-of-mine', title, key));
      const seen = await Promise.all(answers);
      for (const answer of seen) assert.deepEqual([answer.status, answer.text], [status, seen[0]?.text]);
      assert.equal((await records.takeEvents()).length, 1);
    }
  });

  it('uses an expired key again', async () => {
    await create('early', 'k7');
    await rowsOf("update system.idempotency_keys set expires_at = now() - interval '1 second'");
    const late = await create('late', 'k7');
    assert.deepEqual([late.status, late.headers.get('idempotency-replayed')], [201, null]);
    assert.equal((await create('late', 'k7')).text, late.text);
  });

  it("rolls back a process's work if it was taken for dead", async () => {
    let second: ReturnType<typeof pay> | undefined;
    let first: ReturnType<typeof pay> | undefined;
    await records.database.transaction(async (query) => {
      await query({ text: 'lock table records.payments', values: [] });
      first = pay('raced', 'k3');
      await untilRow(waitingFor('payments'), [1]);
      assert.equal((await pay('raced', 'k3')).status, 409);
      await rowsOf(
        "update system.idempotency_keys set lease_until = now() - interval '1 second' where fingerprint is null",
      );
      second = pay('other', 'k3');
      await untilRow(waitingFor('payments'), [2]);
    });
    const [late, heir] = await Promise.all([first, second]);
    assert.deepEqual([late?.status, late?.json.code, heir?.status], [409, 'idempotency_key_in_use', 201]);
    assert.deepEqual(await rowsOf("select title from records.payments where title in ('raced', 'other')"), [
      { title: 'other' },
    ]);
    assert.equal((await pay('other', 'k3')).text, heir?.text);
  });
});
