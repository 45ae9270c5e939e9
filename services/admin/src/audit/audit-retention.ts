import type { Database } from '@recordbus/database';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Settings } from '@recordbus/settings';
import { removeOldAudit } from './audit-log.ts';

/** How often old rows are removed, in milliseconds. */
const intervalMs = 3_600_000;

/** Deletes old audit rows (admins §6.7): after a start, each hour, and when `audit.retention_days` changes. */
export interface AuditRetention {
  start(): void;
  /** Resolves when a running deletion is done. */
  stop(): Promise<void>;
}

interface RetentionDeps {
  readonly database: Database;
  readonly settings: Settings;
  readonly log: Logger;
}

/** Creates the background task. Replicas may delete concurrently. */
export function createAuditRetention({ database, settings, log }: RetentionDeps): AuditRetention {
  let unsubscribe: () => unknown = () => {};
  const removing = every({
    name: 'remove old audit rows',
    log,
    intervalMs,
    async run() {
      const removed = await removeOldAudit(database.query, settings.get('audit.retention_days'));
      if (removed > 0) log.info({ removed }, 'removed old audit rows');
    },
  });

  return {
    start() {
      unsubscribe = settings.onChange((changed) => {
        if (changed.has('audit.retention_days')) removing.wake();
      });
      removing.start();
    },
    async stop() {
      unsubscribe();
      await removing.stop();
    },
  };
}
