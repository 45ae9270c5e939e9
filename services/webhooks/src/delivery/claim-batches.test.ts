import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Database } from '@recordbus/database';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import { type ClaimGround, openClaimGround, outcomeOf } from '../../test/claim-ground.ts';
import { claimDue, renewLeases } from './claim.ts';
import { claimBatches, findNextBatchMs } from './claim-batches.ts';
import { deliveriesOf, formBatches, type Sending } from './form-batches.ts';
import { type AttemptOutcome, recordOutcomes } from './record-outcomes.ts';

const limits = { limit: 50, perWebhook: 64, inFlight: new Map(), leaseSec: 60 };

describe('batch claims', { skip: skipWithoutDatabase }, () => {
  let ground: ClaimGround;
  let database: Database;

  before(async () => {
    ground = await openClaimGround();
    database = ground.database;
  });
  after(() => ground.remove());
  beforeEach(() => run('delete from system.webhooks'));

  const run = <R>(text: string, ...values: unknown[]) => ground.run<R>(text, ...values);
  const addWebhook = (batch?: object, rate?: number) =>
    ground.addWebhook({ ...(batch && { batch }), ...(rate !== undefined && { rate }) });
  const enqueue: ClaimGround['enqueue'] = (...given) => ground.enqueue(...given);
  const claim = async (over: Partial<typeof limits> = {}): Promise<Sending[]> =>
    formBatches(database.query, await claimBatches(database.query, { ...limits, ...over }));
  const sizes = (sendings: readonly Sending[]) => sendings.map((one) => deliveriesOf(one).length);
  const idsOf = (sendings: readonly Sending[]) => sendings.map((one) => ('id' in one ? one.id : undefined));
  const end = (sendings: readonly Sending[], over: Partial<AttemptOutcome> = {}) =>
    recordOutcomes(
      database.query,
      sendings.flatMap(deliveriesOf).map((claimed) => outcomeOf(claimed, over)),
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
    await enqueue(await addWebhook(), 2);
    const batched = await addWebhook({ max: 10, wait_ms: 0 });
    await enqueue(batched, 2);
    const single = await claimDue(database.query, limits);
    assert.equal(single.length, 2);
    assert.ok(single.every(({ webhook_id }) => webhook_id !== batched));
    assert.deepEqual(sizes(await claim()), [2]);
  });
});
