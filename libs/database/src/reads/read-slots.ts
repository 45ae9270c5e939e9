import { setTimeout } from 'node:timers/promises';
import { rateLimited } from '@recordbus/errors';
import { locks } from '../advisory-locks.ts';
import type { ClassMeter } from '../connections/class-meter.ts';
import { shapedReadBudget } from '../connections/connection-budget.ts';
import type { WorkPlaces } from '../connections/work-places.ts';
import type { Query, Statement } from '../statement.ts';

/** Runs work in a read-only transaction with one snapshot, in a client's slot. */
export type InReadSlot = <T>(client: string, work: (query: Query) => Promise<T>, statementMs: number) => Promise<T>;

export const oneSnapshot: Statement = {
  text: 'set transaction isolation level repeatable read, read only',
  values: [],
};

/** Takes the first free slot. Locks with two keys are separate from those with one, and end with their transaction. */
const takeSlot = (client: string): Statement => ({
  text: `select from generate_series(1, $2::int) slot
where pg_try_advisory_xact_lock(${locks.readSlot}) limit 1`,
  values: [client, shapedReadBudget.perClient],
});

/**
 * Creates the slots for long reads. A client has a fixed number over all replicas: each is a lock in the database. A
 * read without a slot tries again, and holds no connection in between.
 */
export function createReadSlots(long: Pick<WorkPlaces, 'transaction'>, meter: ClassMeter): InReadSlot {
  const { waitMs, slotRetryMs } = shapedReadBudget;

  const attempt = <T>(client: string, work: (query: Query) => Promise<T>, statementMs: number) =>
    long.transaction(async (query): Promise<{ readonly result: T } | undefined> => {
      await query(oneSnapshot);
      const slots = await query(takeSlot(client));
      return slots.length > 0 ? { result: await work(query) } : undefined;
    }, statementMs);

  return async (client, work, statementMs) => {
    const giveUpAtMs = performance.now() + waitMs;
    for (;;) {
      const done = await attempt(client, work, statementMs);
      if (done) return done.result;
      if (performance.now() >= giveUpAtMs) {
        meter.refused();
        throw rateLimited(1);
      }
      await setTimeout(slotRetryMs);
    }
  };
}
