import type { Query } from '@recordbus/database';

const dayMs = 24 * 3600 * 1000;
/** Partitions are made this many days before they are needed. */
const daysAhead = 2;

/** Sees to it that the log has a partition for every day that an event falls on. */
export interface EventDays {
  ensure(times: Iterable<string>): Promise<void>;
  /** For today and the days to come. */
  ensureAhead(): Promise<void>;
  /** Forgets what it knows: partitions have been dropped. */
  forget(): void;
}

/** Makes one that remembers the days it has seen to. */
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
