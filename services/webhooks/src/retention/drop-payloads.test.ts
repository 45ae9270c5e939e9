import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Database, newId } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { dropPayloads } from './drop-payloads.ts';

describe('payloads', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;

  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
    for (const ago of [0, 1, 2, 3])
      await run(`select system.ensure_event_day(((now() - make_interval(days => $1)) at time zone 'UTC')::date)`, ago);
  });
  after(() => temporary.remove());
  beforeEach(async () => {
    await run('delete from system.webhooks');
    await run('delete from system.events');
  });

  const run = <R>(text: string, ...values: unknown[]) => database.query<R>({ text, values });

  async function addWebhook(id: string, days: number | null): Promise<void> {
    await run(
      `insert into system.webhooks
         (id, name, url, events, secret, retry_max, retry_backoff, retry_delay_ms, timeout_ms, payload_days)
       values ($1, 'w', 'http://a.example', '{*}', 's', 3, 'fixed', 1000, 1000, $2)`,
      id,
      days,
    );
  }

  /** Adds an event from some days ago, delivered to these webhooks in these states. */
  async function addEvent(
    daysAgo: number,
    states: Readonly<Record<string, 'success' | 'dead' | 'pending'>>,
  ): Promise<string> {
    const id = newId();
    await run(
      `insert into system.events (id, occurred_at, event, body) values ($1, now() - make_interval(days => $2), 'a.b', '{}')`,
      id,
      daysAgo,
    );
    for (const [webhookId, status] of Object.entries(states))
      await run(
        `with made as (
          insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status, created_at, body)
          select gen_random_uuid(), occurred_at, id, $2, event, $3, occurred_at, '{"own":1}' from system.events where id = $1
          returning *
        )
        insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id)
        select id, occurred_at, event_id, webhook_id from made where status = 'pending'`,
        id,
        webhookId,
        status,
      );
    return id;
  }

  const bodyOf = async (id: string) =>
    (await run<{ body: string }>('select body from system.events where id = $1', id))[0]?.body;
  const ownBodies = async (webhookId: string) =>
    (await run<{ body: string }>('select body from system.deliveries where webhook_id = $1', webhookId)).map(
      ({ body }) => body,
    );

  it('are dropped after their days, and not before', async () => {
    await addWebhook('w', 2);
    const [old, young] = [await addEvent(3, { w: 'success' }), await addEvent(1, { w: 'dead' })];
    assert.equal(await dropPayloads(database.query), 1);
    assert.deepEqual([await bodyOf(old), await bodyOf(young)], ['null', '{}']);
    assert.deepEqual((await ownBodies('w')).toSorted(), ['null', '{"own":1}']);
    assert.equal(await dropPayloads(database.query), 0);
  });

  it('stay while another webhook keeps them', async () => {
    await addWebhook('w', 0);
    await addWebhook('longer', 2);
    await addWebhook('always', null);
    const [shared, soon] = [
      await addEvent(1, { w: 'success', longer: 'success' }),
      await addEvent(3, { w: 'dead', longer: 'dead' }),
    ];
    const kept = await addEvent(3, { w: 'success', always: 'success' });
    await dropPayloads(database.query);
    assert.deepEqual([await bodyOf(shared), await bodyOf(soon), await bodyOf(kept)], ['{}', 'null', '{}']);
  });

  it('stay while their delivery waits, and are dropped later', async () => {
    await addWebhook('w', 1);
    const waiting = await addEvent(3, { w: 'pending' });
    const ended = await addEvent(2, { w: 'success' });
    await dropPayloads(database.query);
    assert.equal(await bodyOf(waiting), '{}');
    await run(`delete from system.delivery_queue`);
    await run(`update system.deliveries set status = 'success'`);
    await dropPayloads(database.query);
    assert.deepEqual([await bodyOf(waiting), await bodyOf(ended)], ['null', 'null']);
  });

  it('stay where no webhook limits them', async () => {
    await addWebhook('w', null);
    const id = await addEvent(3, { w: 'success' });
    assert.equal(await dropPayloads(database.query), 0);
    assert.equal(await bodyOf(id), '{}');
  });
});
