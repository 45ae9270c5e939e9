import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Database } from '@recordbus/database';
import { skipWithoutDatabase } from '@recordbus/database/testing';
import { createEgressClient, parseEgressRules } from '@recordbus/egress';
import { type ClaimGround, openClaimGround, outcomeOf } from '../../test/claim-ground.ts';
import { startReceiver } from '../../test/test-receiver.ts';
import { attemptDelivery } from './attempt.ts';
import type { LeasedDelivery } from './claim.ts';
import { claimLanes } from './claim-lanes.ts';
import { beforeLanes, findUse, freeLanes, removeAbandonedLanes, removeEmptyLanes } from './lane-queue.ts';
import { type OrderedOutcome, recordOrderedOutcomes } from './record-ordered-outcomes.ts';

const life = 7;

describe('lane claims', { skip: skipWithoutDatabase }, () => {
  let ground: ClaimGround;
  let database: Database;

  before(async () => {
    ground = await openClaimGround();
    database = ground.database;
  });
  after(() => ground.remove());
  beforeEach(async () => {
    await run('delete from system.webhooks');
  });

  const run = <R>(text: string, ...values: unknown[]) => ground.run<R>(text, ...values);
  const addWebhook = (rate?: number) => ground.addWebhook({ ordering: 'record', ...(rate !== undefined && { rate }) });

  /** Adds a delivery of a record's event with a number in the stream, and returns its id. */
  async function enqueue(webhookId: string, record: string, sequence: number): Promise<string> {
    const [row] = await run<{ id: string }>(
      `with event as (
        insert into system.events (id, occurred_at, event, body, record_id) values (gen_random_uuid(), now(), 'a.b', '{}', $2)
        returning *
      ), delivery as (
        insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status)
        select id, occurred_at, id, $1, event, 'pending' from event
      )
      select id, system.put_in_lane(id, occurred_at, id, $1, record_id, ${life}, $3) from event`,
      webhookId,
      record,
      sequence,
    );
    return row?.id ?? '';
  }

  const claim = (sequence = 1000) =>
    claimLanes(database.query, { limit: 50, perWebhook: 64, inFlight: new Map(), leaseSec: 60 }, { life, sequence });
  const idsOf = (claims: readonly LeasedDelivery[]) => claims.map(({ delivery_id }) => delivery_id).sort();
  const end = (claims: readonly LeasedDelivery[], over: Partial<OrderedOutcome> = {}) =>
    recordOrderedOutcomes(
      database.query,
      claims.map((claimed) => ({
        ...outcomeOf(claimed),
        lane: claimed.lane ?? assert.fail('no lane'),
        ...over,
      })),
    );
  const expireLeases = () => run(`update system.delivery_lanes set lease_until = now() - interval '1 second'`);
  const lanes = () => run<{ key: string }>('select key from system.delivery_lanes order by key');

  it("take each lane's first delivery, whatever the order in which they were added", async () => {
    const webhook = await addWebhook();
    const second = await enqueue(webhook, 'r1', 12);
    const other = await enqueue(webhook, 'r2', 11);
    const first = await enqueue(webhook, 'r1', 10);
    const claimed = await claim();
    assert.deepEqual(idsOf(claimed), [first, other].sort());
    assert.deepEqual(await claim(), [], 'one delivery of a lane is in progress');
    await end(claimed);
    const next = await claim();
    assert.deepEqual(idsOf(next), [second]);
    assert.deepEqual(await lanes(), [{ key: 'r1' }], 'an empty lane is removed');
    await end(next);
    assert.deepEqual(await lanes(), []);
    assert.equal((await run('select from system.ordered_deliveries')).length, 0);
  });

  it('wait until every earlier event has its deliveries', async () => {
    const webhook = await addWebhook();
    await enqueue(webhook, 'r', 12);
    assert.deepEqual(await claim(11), []);
    const earlier = await enqueue(webhook, 'r', 10);
    assert.deepEqual(idsOf(await claim(11)), [earlier]);
  });

  it('do not wait for events of an earlier life of the stream', async () => {
    const webhook = await addWebhook();
    const old = await enqueue(webhook, 'r', 900);
    const claimed = await claimLanes(
      database.query,
      { limit: 50, perWebhook: 64, inFlight: new Map(), leaseSec: 60 },
      { life: life + 1, sequence: 3 },
    );
    assert.deepEqual(idsOf(claimed), [old]);
  });

  it('never give a lane twice, with any number in parallel', async () => {
    const webhook = await addWebhook();
    for (let record = 0; record < 20; record += 1)
      for (let sequence = 0; sequence < 5; sequence += 1) await enqueue(webhook, `r${record}`, record * 5 + sequence);
    const order = new Map<string, string[]>();
    const underWay = new Set<string>();
    const work = async (): Promise<void> => {
      for (;;) {
        const claimed = await claim();
        if (claimed.length === 0 && (await lanes()).length === 0) return;
        for (const { lane, delivery_id } of claimed) {
          const id = lane?.id ?? '';
          assert.ok(!underWay.has(id), 'the lane is free');
          underWay.add(id);
          order.set(id, [...(order.get(id) ?? []), delivery_id]);
        }
        for (const { lane } of claimed) underWay.delete(lane?.id ?? '');
        await end(claimed);
      }
    };
    await Promise.all(Array.from({ length: 6 }, work));
    const sent = [...order.values()];
    assert.equal(sent.flat().length, 100);
    assert.equal(new Set(sent.flat()).size, 100);
  });

  it("keep a dead delivery's lane, unless the webhook skips", async () => {
    const webhook = await addWebhook();
    const dead = await enqueue(webhook, 'r', 1);
    await enqueue(webhook, 'r', 2);
    await end(await claim(), { verdict: 'dead' });
    assert.deepEqual(await claim(), []);
    const [lane] = await run<{ blocked_by: string }>('select blocked_by from system.delivery_lanes');
    assert.equal(lane?.blocked_by, dead);
    assert.equal(await freeLanes(database.query), false);
    await run(`update system.webhooks set on_failure = 'skip'`);
    assert.equal(await freeLanes(database.query), true);
    const next = await claim();
    assert.equal(next.length, 1);
    await end(next, { verdict: 'dead' });
    assert.deepEqual(await lanes(), []);
  });

  it('free a lane whose dead delivery the log no longer has', async () => {
    const webhook = await addWebhook();
    await enqueue(webhook, 'r', 1);
    await end(await claim(), { verdict: 'dead' });
    await run('delete from system.ordered_deliveries');
    await freeLanes(database.query);
    assert.equal(await removeAbandonedLanes(database.query, beforeLanes), beforeLanes);
    assert.deepEqual(await lanes(), []);
    assert.equal((await findUse(database.query)).hasLanes, true, 'the webhook still has an order');
  });

  it('count lost leases, and ignore the outcome of a lost one', async () => {
    const webhook = await addWebhook();
    await enqueue(webhook, 'r', 1);
    const frozen = await claim();
    await expireLeases();
    const last = await claim();
    assert.deepEqual(
      last.map(({ lost_leases }) => lost_leases),
      [1],
    );
    assert.deepEqual(await end(frozen, { verdict: 'dead' }), []);
    assert.equal((await end(last)).length, 1);
  });

  it('leave a lane that is getting a delivery', async () => {
    const webhook = await addWebhook();
    await enqueue(webhook, 'r', 1);
    const [claimed] = await claim();
    const { lane } = claimed ?? assert.fail('nothing was claimed');
    await run('delete from system.ordered_deliveries');
    await run('update system.delivery_lanes set lease_until = null, lease_token = null');
    await database.transaction(async (query) => {
      await query({
        text: `insert into system.delivery_lanes as l (webhook_id, key) values ($1, 'r')
          on conflict (webhook_id, key) do update set additions = l.additions + 1`,
        values: [webhook],
      });
      await removeEmptyLanes(database.query, lane ? [lane] : []);
    });
    await removeEmptyLanes(database.query, lane ? [lane] : []);
    assert.deepEqual(await lanes(), [{ key: 'r' }]);
  });

  it("keep to the webhook's rate", async () => {
    const webhook = await addWebhook(0.1);
    for (let record = 0; record < 5; record += 1) await enqueue(webhook, `r${record}`, record);
    assert.equal((await claim()).length, 1);
    assert.equal((await claim()).length, 0);
  });

  it('are not sent when the lease may have ended', async () => {
    const webhook = await addWebhook();
    await enqueue(webhook, 'r', 1);
    const [claimed = assert.fail('nothing was claimed')] = await claim();
    const receiver = await startReceiver();
    const client = createEgressClient({ rules: () => parseEgressRules({ deny: 'off', allow: '' }) });
    try {
      const outcome = await attemptDelivery(client, { ...claimed, url: receiver.url }, () => false);
      assert.deepEqual([outcome.verdict, outcome.attempted, receiver.received.length], ['retry', false, 0]);
    } finally {
      await client.close();
      await receiver.close();
    }
  });
});
