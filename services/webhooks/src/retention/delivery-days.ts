import type { Query } from '@recordbus/database';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { EventDays } from '../fan-out/event-days.ts';
import { dropOldDays } from './drop-old-days.ts';
import { dropPayloads } from './drop-payloads.ts';

/** Creates the delivery log's partitions ahead of time, one for each day, and drops those past the retention. */
interface DeliveryDays {
  /** Creates the partitions needed now, then continues in the background. Throws when the database does not answer. */
  start(): Promise<void>;
  /** Call it when the log's retention has changed. */
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
/** Pause after a failure, such as a day in use or a database that does not answer, in milliseconds. */
const retryMs = 60_000;

/** Creates the task. Every replica runs it, and a lock in the database lets one replica work at a time. */
export function createDeliveryDays({ query, days, keepDays, log }: DeliveryDaysOptions): DeliveryDays {
  const keeping = every({
    name: 'create and drop delivery log days',
    log,
    intervalMs: hourMs,
    retryMs,
    async run() {
      await days.ensureAhead();
      await dropPayloads(query);
      const dropped = await dropOldDays(query, keepDays());
      if (dropped.length === 0) return;
      days.forget();
      log.info({ days: dropped }, 'dropped old days from the delivery log');
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
