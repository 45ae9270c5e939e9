import type { Database } from '@recordbus/database';
import type { Settings } from '@recordbus/settings';
import type { Logger } from '@recordbus/shared/logging';
import { removeOldAudit } from './audit-log.ts';

/** How often old rows are looked for, in milliseconds. */
const intervalMs = 3_600_000;

/** Removes audit rows when their time is over: soon after a start, each hour, and when `audit.retention_days` changes. */
export interface AuditRetention {
  start(): void;
  /** Resolves when a removal that is under way is done. */
  stop(): Promise<void>;
}

interface RetentionDeps {
  readonly database: Database;
  readonly settings: Settings;
  readonly log: Logger;
}

/** Makes it. Replicas may remove at the same time: what one has removed the other does not find. */
export function createAuditRetention({ database, settings, log }: RetentionDeps): AuditRetention {
  let timer: NodeJS.Timeout | undefined;
  let endChanges: () => unknown = () => {};
  let running = Promise.resolve();

  const run = () => {
    running = running.then(async () => {
      try {
        const removed = await removeOldAudit(database.query, settings.get('audit.retention_days'));
        if (removed > 0) log.info({ removed }, 'old audit rows were removed');
      } catch (error) {
        log.warn({ err: error }, 'old audit rows could not be removed');
      }
    });
  };

  return {
    start() {
      endChanges = settings.onChange((changed) => {
        if (changed.has('audit.retention_days')) run();
      });
      timer = setInterval(run, intervalMs);
      run();
    },
    async stop() {
      endChanges();
      clearInterval(timer);
      await running;
    },
  };
}
