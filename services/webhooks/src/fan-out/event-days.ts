import type { Query } from '@recordbus/database';

const dayMs = 24 * 3600 * 1000;
/** Partitions are created this many days before they are needed. */
const daysAhead = 2;

/** Creates the delivery log's partitions, one for each day with events. */
export interface EventDays {
  /** Creates the partitions for these RFC 3339 times. */
  ensure(times: Iterable<string>): Promise<void>;
  /** Creates the partitions for today and the next days. */
  ensureAhead(): Promise<void>;
  /** Clears the cache of existing partitions; call it after some were dropped. */
  forget(): void;
}

/** Creates the object, which caches the days whose partitions exist. */
export function createEventDays(query: Query): EventDays {
  const known = new Set<string>();

  async function ensureDay(day: string): Promise<void> {
    if (known.has(day)) return;
    await query({ text: 'select system.ensure_event_day($1::date)', values: [day] });
    known.add(day);
  }

  return {
    async ensure(times) {
      const days = new Set(Iterator.from(times).map((time) => new Date(time).toISOString().slice(0, 10)));
      for (const day of days) await ensureDay(day);
    },
    async ensureAhead() {
      for (let ahead = 0; ahead <= daysAhead; ahead += 1) {
        await ensureDay(new Date(Date.now() + ahead * dayMs).toISOString().slice(0, 10));
      }
    },
    forget: () => known.clear(),
  };
}
