import { type Database, newId } from '@recordbus/database';
import { openTemporaryDatabase } from '@recordbus/database/testing';
import type { LeasedDelivery } from '../src/delivery/claim.ts';
import type { AttemptOutcome } from '../src/delivery/record-outcomes.ts';

/** A webhook's members that claims read. */
interface ClaimedMembers {
  readonly rate?: number;
  readonly batch?: object;
  readonly ordering?: 'none' | 'record' | 'all';
  readonly onFailure?: 'block' | 'skip';
}

/** A temporary database with today's partition of the log, for tests of claims. */
export interface ClaimGround {
  readonly database: Database;
  run<R>(text: string, ...values: readonly unknown[]): Promise<R[]>;
  /** Adds a webhook for all events, and returns its id. */
  addWebhook(members?: ClaimedMembers): Promise<string>;
  /** Queues a webhook's deliveries of new events. */
  enqueue(webhookId: string, count: number, body?: string): Promise<void>;
  remove(): Promise<void>;
}

/** Opens the database. */
export async function openClaimGround(): Promise<ClaimGround> {
  const { database, remove } = await openTemporaryDatabase();
  const run = <R>(text: string, ...values: readonly unknown[]) => database.query<R>({ text, values: [...values] });
  await run(`select system.ensure_event_day((now() at time zone 'UTC')::date)`);
  return {
    database,
    run,
    async addWebhook({ rate, batch, ordering = 'none', onFailure = 'block' } = {}) {
      const id = newId();
      await run(
        `insert into system.webhooks
           (id, name, url, events, secret, retry_max, retry_backoff, retry_delay_ms, timeout_ms, rate, batch, ordering, on_failure)
         values ($1, 'w', 'http://a.example', '{*}', 's', 3, 'fixed', 1000, 1000, $2, $3, $4, $5)`,
        id,
        rate ?? null,
        batch ?? null,
        ordering,
        onFailure,
      );
      return id;
    },
    async enqueue(webhookId, count, body = '{}') {
      await run(
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
    },
    remove: () => remove(),
  };
}

/** The outcome of a claimed delivery: a success, unless `over` says otherwise. */
export const outcomeOf = (claimed: LeasedDelivery, over: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
  deliveryId: claimed.delivery_id,
  webhookId: claimed.webhook_id,
  wasFailing: claimed.failing,
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
});
