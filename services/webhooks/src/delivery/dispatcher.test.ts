import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Database, newId, type Query } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { createEgressClient, parseEgressRules } from '@recordbus/egress';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { startReceiver, type TestReceiver } from '../../test/test-receiver.ts';
import { createDispatcher } from './dispatcher.ts';

/** Longer than any test, so that the idle tick never finds a delivery in time. */
const neverMs = 3_600_000;

describe('the dispatcher', { skip: skipWithoutDatabase }, () => {
  const log = createLogger('test', 'silent');
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  let receiver: TestReceiver;

  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await temporary.remove();
  });

  async function enqueue(count: number): Promise<void> {
    const id = newId();
    await database.query({ text: `select system.ensure_event_day((now() at time zone 'UTC')::date)`, values: [] });
    await database.query({
      text: `insert into system.webhooks
          (id, name, url, events, secret, retry_max, retry_backoff, retry_delay_ms, timeout_ms)
        values ($1, 'w', $2, '{*}', 's', 3, 'fixed', 1000, 10000)`,
      values: [id, receiver.url],
    });
    await database.query({
      text: `with event as (
          insert into system.events (id, occurred_at, event, body)
          select gen_random_uuid(), now(), 'a.b', '{}' from generate_series(1, $2) returning *
        ), delivery as (
          insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status)
          select id, occurred_at, id, $1, event, 'pending' from event
        )
        insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id)
        select id, occurred_at, id, $1 from event`,
      values: [id, count],
    });
  }

  it("sends one webhook's backlog without the idle tick, even when attempts end during a claim", async () => {
    const count = 300;
    await enqueue(count);
    // Delays the result of each claim until every attempt that it counted as in progress has ended.
    const query: Query = async (statement) => {
      const rows = await database.query<never>(statement);
      if (statement.name === 'delivery.claim') await eventually(() => dispatcher.underWay === 0);
      return rows;
    };
    const client = createEgressClient({ rules: () => parseEgressRules({ deny: 'off', allow: '' }) });
    const dispatcher = createDispatcher({
      query,
      clientOf: () => client,
      lanes: { isUsed: false, areBatchesUsed: false, claim: async () => ({ claims: [], isEarly: false }) },
      recheck: async (claims) => claims,
      log,
      idleMs: neverMs,
      onBegin: () => {},
      onRecorded: () => {},
    });
    dispatcher.start();
    try {
      await eventually(() => receiver.received.length === count);
    } finally {
      await dispatcher.stop();
    }
    const left = await database.query({ text: 'select 1 from system.delivery_queue', values: [] });
    assert.deepEqual(left, []);
  });
});
