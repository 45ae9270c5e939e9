import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Database } from '@recordbus/database';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import { eventually } from '@recordbus/testing';
import { type ClaimGround, openClaimGround, outcomeOf } from '../../test/claim-ground.ts';
import { claimDue, type LeasedDelivery, releaseLeases, renewLeases } from './claim.ts';
import { recordOutcomes } from './record-outcomes.ts';

describe('delivery claims', { skip: skipWithoutDatabase }, () => {
  let ground: ClaimGround;
  let database: Database;

  before(async () => {
    ground = await openClaimGround();
    database = ground.database;
  });
  after(() => ground.remove());
  beforeEach(() => run('delete from system.webhooks'));

  const run = <R>(text: string, ...values: unknown[]) => ground.run<R>(text, ...values);
  const addWebhook: ClaimGround['addWebhook'] = (members) => ground.addWebhook(members);
  const enqueue: ClaimGround['enqueue'] = (...given) => ground.enqueue(...given);

  const claim = (limits: Partial<Parameters<typeof claimDue>[1]> = {}) =>
    claimDue(database.query, { limit: 50, perWebhook: 32, inFlight: new Map(), leaseSec: 60, ...limits });

  const states = () =>
    run<{ status: string; attempt: number }>('select status, attempt from system.deliveries order by id');
  const expireLeases = () => run(`update system.delivery_queue set lease_until = now() - interval '1 second'`);

  it('never overlap, with any number in parallel', async () => {
    await enqueue(await addWebhook(), 200);
    const claims = (await Promise.all(Array.from({ length: 8 }, () => claim({ limit: 20 })))).flat();
    assert.equal(new Set(claims.map(({ delivery_id }) => delivery_id)).size, claims.length);
    assert.ok(claims.length > 100);
  });

  it('take from every webhook, at most its share', async () => {
    const webhooks = [await addWebhook(), await addWebhook(), await addWebhook()];
    for (const webhook of webhooks) await enqueue(webhook, 100);
    const [busy = ''] = webhooks;
    const claims = await claim({ perWebhook: 10, inFlight: new Map([[busy, 8]]) });
    const counts = webhooks.map((webhook) => claims.filter(({ webhook_id }) => webhook_id === webhook).length);
    assert.deepEqual(counts, [2, 10, 10]);
  });

  it("keep to a webhook's rate, however many claim at once, and leave the others alone", async () => {
    const slow = await addWebhook({ rate: 20 });
    const other = await addWebhook();
    await enqueue(slow, 12);
    await enqueue(other, 12);
    const startMs = performance.now();
    const claims: LeasedDelivery[] = [];
    const claimUntil = async (count: number): Promise<void> => {
      await eventually(async () => {
        claims.push(...(await claim()));
        return claims.length >= count;
      });
    };
    await claimUntil(12);
    assert.ok(claims.filter(({ webhook_id }) => webhook_id === slow).length < 12);
    await Promise.all([claimUntil(24), claimUntil(24), claimUntil(24)]);
    // The first two slots may be free at once: 12 deliveries end with the tenth later slot.
    assert.ok(performance.now() - startMs >= 10 * (1000 / 20));
    assert.equal(new Set(claims.map(({ delivery_id }) => delivery_id)).size, 24);
  });

  it('skip disabled webhooks and deliveries that are not due', async () => {
    const webhook = await addWebhook();
    await enqueue(webhook, 2);
    await run(`update system.webhooks set active = '{}'`);
    assert.equal((await claim()).length, 0);
    await run(`update system.webhooks set active = tstzmultirange(tstzrange(now(), null))`);
    await run(`update system.delivery_queue set next_attempt_at = now() + interval '1 hour'`);
    assert.equal((await claim()).length, 0);
  });

  it('count a lost lease when it expires, but not when it is released or renewed', async () => {
    await enqueue(await addWebhook(), 1);
    const [first] = await claim();
    assert.equal((await claim()).length, 0);
    await expireLeases();
    const [second] = await claim();
    assert.ok(first && second);
    assert.deepEqual([first.lost_leases, second.lost_leases], [0, 1]);
    await releaseLeases(database.query, [first]);
    assert.equal((await claim()).length, 0);
    await releaseLeases(database.query, [second]);
    const [third] = await claim();
    assert.ok(third);
    assert.equal(third.lost_leases, 1);
    await expireLeases();
    await renewLeases(database.query, [third], 60);
    assert.equal((await claim()).length, 0);
  });

  it("let only a lease's last holder record the outcome, once", async () => {
    await enqueue(await addWebhook(), 1);
    const [frozen] = await claim();
    await expireLeases();
    const [last] = await claim();
    assert.ok(frozen && last);
    await renewLeases(database.query, [frozen], 600);
    await recordOutcomes(database.query, [outcomeOf(frozen, { verdict: 'dead' })]);
    assert.deepEqual(await states(), [{ status: 'pending', attempt: 0 }]);
    await recordOutcomes(database.query, [outcomeOf(last)]);
    await recordOutcomes(database.query, [outcomeOf(last), outcomeOf(frozen)]);
    assert.deepEqual(await states(), [{ status: 'success', attempt: 1 }]);
    assert.deepEqual(await run('select count(*) from system.delivery_attempts'), [{ count: 1 }]);
  });

  it('count recorded attempts, and reset lost leases after one', async () => {
    await enqueue(await addWebhook(), 1);
    await claim();
    await expireLeases();
    const [lost] = await claim();
    assert.ok(lost);
    await recordOutcomes(database.query, [outcomeOf(lost, { verdict: 'retry', error: 'no', responseCode: 500 })]);
    const [next] = await claim();
    assert.deepEqual([next?.attempt, next?.lost_leases], [1, 0]);
    assert.deepEqual(await states(), [{ status: 'pending', attempt: 1 }]);
  });

  it('outlive their webhook', async () => {
    const webhook = await addWebhook();
    await enqueue(webhook, 1);
    const [claimed] = await claim();
    assert.ok(claimed);
    await run('delete from system.webhooks where id = $1', webhook);
    await recordOutcomes(database.query, [outcomeOf(claimed)]);
    assert.deepEqual(await states(), []);
  });
});
