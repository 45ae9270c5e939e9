import type { Route } from '@recordbus/http';
import { dataJobs } from './data-jobs/data-job-store.ts';
import type { ErasureJob } from './erasure/erasure.ts';
import { createHashOfErased } from './erasure/hash-of-erased.ts';
import { repeatErasures } from './erasure/repeat-erasures.ts';
import { createRunErasure } from './erasure/run-erasure.ts';
import { createJobWorker } from './jobs/worker.ts';
import type { RecordSubjects } from './record-subjects.ts';
import type { RecordsDeps } from './records-deps.ts';
import type { RecordsParts } from './records-parts.ts';
import { eraseRoute } from './routes/erase.ts';

/** A replica's erasures: their routes and their worker. */
export interface RecordsErasures {
  readonly routes: readonly Route[];
  /** Starts the worker. Call it after the hooks are loaded. */
  start(): void;
  stop(): Promise<void>;
}

/** Creates the erasures. */
export function createRecordsErasures(
  { database, bus, log, secret, collections: cache }: RecordsDeps,
  { settings }: Pick<RecordsParts, 'settings'>,
  records: RecordSubjects,
): RecordsErasures {
  const background = database.of('background');
  const hashOf = createHashOfErased(secret);
  const erase = createRunErasure({
    rules: records,
    schema: records.schema,
    collections: cache.all,
    reload: cache.reload,
    database: background,
    write: records.writeInBackground,
    bus,
    removals: records.removals,
    secret,
    hashOf,
    schedule: () => ({ cron: settings.get('backups.cron'), kept: settings.get('backups.keep') }),
  });
  const worker = createJobWorker({
    database: background,
    jobs: dataJobs,
    run: { erase: (job, ending) => erase(job as ErasureJob, ending) },
    log,
  });
  const wakeJobs = () => bus.notify('jobs');
  let endNotices = () => {};
  return {
    routes: [eraseRoute({ records, database: database.of('admin'), hashOf, wakeJobs })],
    start() {
      repeatErasures(background).then(
        (count) => {
          if (count === 0) return;
          log.info({ records: count }, 'erasures from before the restore are repeated');
          worker.wake();
        },
        (err) => log.error({ err }, 'cannot repeat the erasures from before the restore'),
      );
      endNotices = bus.onNotice('jobs', worker.wake);
      worker.start();
    },
    async stop() {
      endNotices();
      await worker.stop();
    },
  };
}
