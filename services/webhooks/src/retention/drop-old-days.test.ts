import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Database, newId } from '@recordbus/database';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { dropOldDays } from './drop-old-days.ts';

describe("the delivery log's days", { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  const now = Date.parse('2026-03-31T12:00:00Z');

  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
    await run(
      `insert into system.webhooks (id, name, url, events, secret, retry_max, retry_backoff, retry_delay_ms, timeout_ms)
       values ('w', 'w', 'http://a.example', '{*}', 's', 3, 'fixed', 1000, 1000)`,
    );
    for (const day of ['2026-02-28', '2026-03-01', '2026-03-31']) await addDelivery(day);
  });
  after(async () => {
    await temporary.remove();
  });

  const run = <R>(text: string, ...values: unknown[]) => database.query<R>({ text, values });

  async function addDelivery(day: string): Promise<void> {
    await run('select system.ensure_event_day($1::date)', day);
    await run(
      `with event as (
        insert into system.events (id, occurred_at, event, body) values ($1, $2, 'a.b', '{}')
      ), delivery as (
        insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status)
        values ($1, $2, $1, 'w', 'a.b', 'pending')
      ), attempt as (
        insert into system.delivery_attempts (delivery_id, occurred_at, attempt, at, duration_ms) values ($1, $2, 1, $2, 1)
      )
      insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id) values ($1, $2, $1, 'w')`,
      newId(),
      `${day}T23:59:59.999Z`,
    );
  }

  const left = async (table: string) =>
    (await run<{ day: string }>(`select occurred_at::date::text as day from system.${table} order by 1`)).map(
      ({ day }) => day,
    );

  it('are dropped with their waiting deliveries after the retention', async () => {
    assert.deepEqual(await dropOldDays(database.query, 30, now), ['2026-02-28']);
    for (const table of ['events', 'deliveries', 'delivery_attempts', 'delivery_queue'])
      assert.deepEqual(await left(table), ['2026-03-01', '2026-03-31'], table);
    assert.deepEqual(await dropOldDays(database.query, 30, now), []);
  });

  it('are dropped as tables', async () => {
    await dropOldDays(database.query, 1, now);
    const tables = await run<{ relname: string }>(
      `select relname from pg_class where relname ~ '_2026\\d{4}$' and relkind = 'r' order by 1`,
    );
    assert.deepEqual(
      tables.map(({ relname }) => relname),
      ['deliveries_20260331', 'delivery_attempts_20260331', 'events_20260331'],
    );
  });

  it('are not dropped while a transaction reads them, and delay others only briefly', async () => {
    await addDelivery('2026-01-01');
    await database.transaction(async (query) => {
      await query({ text: 'select from system.deliveries limit 1', values: [] });
      await assert.rejects(dropOldDays(database.query, 30, now), { code: '55P03' });
    });
    assert.deepEqual(await dropOldDays(database.query, 30, now), ['2026-01-01']);
  });
});
