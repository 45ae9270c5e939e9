import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Database, newId } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { claimDue, type LeasedDelivery, renewLeases } from './claim.ts';
import { claimBatches, findNextBatchMs } from './claim-batches.ts';
import { deliveriesOf, formBatches, type Sending } from './form-batches.ts';
import { type AttemptOutcome, recordOutcomes } from './record-outcomes.ts';

const limits = { limit: 50, perWebhook: 64, inFlight: new Map(), leaseSec: 60 };

describe('batch claims', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;

  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
    await run(`select system.ensure_event_day((now() at time zone 'UTC')::date)`);
  });
  after(() => temporary.remove());
  beforeEach(() => run('delete from system.webhooks'));

  const run = <R>(text: string, ...values: unknown[]) => database.query<R>({ text, values });

  async function addWebhook(batch: object | null, rate: number | null = null): Promise<string> {
    const id = newId();
    await run(
      `insert into system.webhooks
         (id, name, url, events, secret, retry_max, retry_backoff, retry_delay_ms, timeout_ms, batch, rate)
       values ($1, 'w', 'http://a.example', '{*}', 's', 3, 'fixed', 1000, 1000, $2, $3)`,
      id,
      batch,
      rate,
    );
    return id;
  }

  const enqueue = (webhookId: string, count: number, body = '{}') =>
    run(
      `with event as (
        insert into system.events (id, occurred_at, event, body)
        select gen_random_uuid(), now(), 'a.b', $3 from generate_series(1, $2) returning *
      ), delivery as (
        insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status)
        select id, occurred_at, id, $1, event, 'pending' from event
      )
      insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id)
      select id, occurred_at, id, $1 from event`,
      webhookId,
      count,
      body,
    );
  const claim = async (over: Partial<typeof limits> = {}): Promise<Sending[]> =>
    formBatches(database.query, await claimBatches(database.query, { ...limits, ...over }));
  const sizes = (sendings: readonly Sending[]) => sendings.map((one) => deliveriesOf(one).length);
  const idsOf = (sendings: readonly Sending[]) => sendings.map((one) => ('id' in one ? one.id : undefined));
  const end = (sendings: readonly Sending[], over: Partial<AttemptOutcome> = {}) =>
    recordOutcomes(
      database.query,
      sendings.flatMap(deliveriesOf).map(
        (claimed: LeasedDelivery): AttemptOutcome => ({
          deliveryId: claimed.delivery_id,
          webhookId: claimed.webhook_id,
          wasFailing: false,
          asksToDisable: false,
          occurredAt: claimed.occurred_at,
          leaseToken: claimed.lease_token,
          verdict: 'success',
          delayMs: 0,
          attempted: true,
          durationMs: 5,
          responseCode: 200,
          responseBody: '',
          error: null,
          ...over,
        }),
      ),
    );
  const expireLeases = () => run(`update system.delivery_queue set lease_until = now() - interval '1 second'`);

  it('never overlap, with any number in parallel', async () => {
    await enqueue(await addWebhook({ max: 7, wait_ms: 0 }), 200);
    const taken: string[] = [];
    const work = async (): Promise<void> => {
      for (;;) {
        const sendings = await claim();
        for (const size of sizes(sendings)) assert.ok(size <= 7);
        taken.push(...sendings.flatMap(deliveriesOf).map(({ delivery_id }) => delivery_id));
        await end(sendings);
        if (sendings.length === 0 && (await run('select from system.delivery_queue')).length === 0) return;
      }
    };
    await Promise.all(Array.from({ length: 6 }, work));
    assert.deepEqual([taken.length, new Set(taken).size], [200, 200]);
  });

  it('wait until they are full or old', async () => {
    const webhook = await addWebhook({ max: 3, wait_ms: 60_000 });
    await enqueue(webhook, 2);
    assert.deepEqual(await claim(), []);
    const waitMs = await findNextBatchMs(database.query);
    assert.ok(waitMs !== null && waitMs > 0 && waitMs <= 60_000);
    await enqueue(webhook, 2);
    assert.deepEqual(sizes(await claim()), [3]);
    assert.deepEqual(await claim(), []);
    await run(`update system.delivery_queue set next_attempt_at = now() - interval '1 minute'`);
    assert.deepEqual(sizes(await claim()), [1]);
    assert.equal(await findNextBatchMs(database.query), null);
  });

  it('take the same deliveries again, with the same id', async () => {
    const webhook = await addWebhook({ max: 3, wait_ms: 60_000 });
    await enqueue(webhook, 3);
    const first = await claim();
    await end(first, { verdict: 'retry', delayMs: 0 });
    await enqueue(webhook, 3);
    const both = await claim();
    assert.deepEqual(sizes(both), [3, 3]);
    assert.equal(idsOf(both)[0], idsOf(first)[0]);
    assert.notEqual(idsOf(both)[1], idsOf(first)[0]);
    await expireLeases();
    assert.deepEqual(idsOf(await claim()), [idsOf(both)[0]].concat([]));
    assert.deepEqual(idsOf(await claim()), [idsOf(both)[1]]);
  });

  it('take no part of a batch that another process still has', async () => {
    await enqueue(await addWebhook({ max: 3, wait_ms: 0 }), 3);
    const [sent = assert.fail('no batch')] = await claim();
    const [one = assert.fail('no delivery')] = deliveriesOf(sent);
    await expireLeases();
    await renewLeases(database.query, [one], 60);
    assert.deepEqual(await claim(), []);
    await expireLeases();
    const [again = assert.fail('no batch')] = await claim();
    assert.deepEqual(idsOf([again]), idsOf([sent]));
    assert.deepEqual(
      deliveriesOf(again).map(({ lost_leases }) => lost_leases),
      [1, 1, 1],
    );
  });

  it('end before they are too large, and leave the rest free', async () => {
    await enqueue(await addWebhook({ max: 4, wait_ms: 0 }), 4, JSON.stringify('x'.repeat(400_000)));
    assert.deepEqual(sizes(await claim()), [2]);
    assert.deepEqual(sizes(await claim()), [2]);
  });

  it('send a delivery alone that is too large', async () => {
    await enqueue(await addWebhook({ max: 4, wait_ms: 0 }), 2, JSON.stringify('x'.repeat(2_000_000)));
    assert.deepEqual(sizes(await claim()), [1]);
    assert.deepEqual(sizes(await claim()), [1]);
  });

  it('take one slot of a rate', async () => {
    await enqueue(await addWebhook({ max: 2, wait_ms: 0 }, 0.1), 6);
    assert.deepEqual(sizes(await claim()), [2]);
    assert.deepEqual(await claim(), []);
  });

  it('count as one attempt in progress', async () => {
    const webhook = await addWebhook({ max: 2, wait_ms: 0 });
    await enqueue(webhook, 4);
    assert.deepEqual(await claim({ perWebhook: 2, inFlight: new Map([[webhook, 2]]) }), []);
    assert.deepEqual(sizes(await claim({ perWebhook: 2, inFlight: new Map([[webhook, 1]]) })), [2]);
  });

  it("leave other webhooks' deliveries to their own claim, which leaves batches", async () => {
    await enqueue(await addWebhook(null), 2);
    const batched = await addWebhook({ max: 10, wait_ms: 0 });
    await enqueue(batched, 2);
    const single = await claimDue(database.query, limits);
    assert.equal(single.length, 2);
    assert.ok(single.every(({ webhook_id }) => webhook_id !== batched));
    assert.deepEqual(sizes(await claim()), [2]);
  });
});
