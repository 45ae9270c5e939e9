import type { Query } from '@recordbus/database';
import { every } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import type { EventDays } from '../fan-out/event-days.ts';
import { dropOldDays } from './drop-old-days.ts';

/** Makes the days of the delivery log that are to come, and drops those that were kept long enough. */
interface DeliveryDays {
  /** Makes the days that are needed now; throws when the database does not answer. Then goes on in the background. */
  start(): Promise<void>;
  /** To be called when the retention of the log has changed. */
  wake(): void;
  stop(): Promise<void>;
}

interface DeliveryDaysOptions {
  readonly query: Query;
  readonly days: EventDays;
  readonly keepDays: () => number;
  readonly log: Logger;
}

const hourMs = 3600 * 1000;
/** After a day that was in use, or a database that was away, in milliseconds. */
const retryMs = 60_000;

/** Makes them. Every replica runs the task; the database lets one at a time do the work. */
export function createDeliveryDays({ query, days, keepDays, log }: DeliveryDaysOptions): DeliveryDays {
  const keeping = every({
    name: 'make and drop the days of the delivery log',
    log,
    intervalMs: hourMs,
    retryMs,
    async run() {
      await days.ensureAhead();
      const dropped = await dropOldDays(query, keepDays());
      if (dropped.length === 0) return;
      days.forget();
      log.info({ days: dropped }, 'old deliveries were dropped');
    },
  });

  return {
    async start() {
      await days.ensureAhead();
      keeping.start();
    },
    wake: keeping.wake,
    stop: keeping.stop,
  };
}
