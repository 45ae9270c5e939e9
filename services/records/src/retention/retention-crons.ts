import type { Database } from '@recordbus/database';
import type { Logger } from '@recordbus/process/logging';
import type { Collection } from '@recordbus/schema';
import type { ProductCron } from '../crons/product-crons.ts';
import { startRetention } from './start-retention.ts';
import { trimHistory } from './trim-history.ts';

interface RetentionDeps {
  /** Connections for background work. */
  readonly database: Pick<Database, 'query'>;
  readonly log: Logger;
  collections(): readonly Collection[];
  /** Reads the collections again. */
  reload(): Promise<void>;
  wakeJobs(): void;
}

const hourMs = 3_600_000;

const nightly = { timeZone: 'UTC', missed: 'run once', timeoutMs: 6 * hourMs } as const;

/** The crons `retain` and `history_keep` (privacy §3.2, history §7). */
export const retentionCrons = (deps: RetentionDeps): readonly ProductCron[] => [
  {
    fullName: 'retain',
    schedule: '20 3 * * *',
    ...nightly,
    async run(ending) {
      await deps.reload();
      await startRetention(deps, ending);
    },
  },
  {
    fullName: 'history_keep',
    schedule: '50 3 * * *',
    ...nightly,
    async run(ending) {
      await deps.reload();
      for (const collection of deps.collections()) {
        const removed = await trimHistory(deps.database.query, collection, ending);
        if (removed > 0) deps.log.info({ collection: collection.name, versions: removed }, 'old versions were removed');
      }
    },
  },
];
