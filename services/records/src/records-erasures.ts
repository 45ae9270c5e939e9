import type { Route } from '@recordbus/http';
import { every } from '@recordbus/process/background';
import { createProductCrons, type ProductCrons } from './crons/product-crons.ts';
import { dataJobs, jobPlaces, removeOldDataJobs } from './data-jobs/data-job-store.ts';
import type { ErasureJob } from './erasure/erasure.ts';
import { createHashOfErased } from './erasure/hash-of-erased.ts';
import { repeatErasures } from './erasure/repeat-erasures.ts';
import { createRunErasure } from './erasure/run-erasure.ts';
import { eraseMailsFrom } from './inbound-mail/erase-mails.ts';
import { createJobWorker } from './jobs/worker.ts';
import type { OwnDataJob } from './own-data/own-data.ts';
import { createRunOwnData } from './own-data/run-own-data.ts';
import type { RecordSubjects } from './record-subjects.ts';
import type { RecordsDeps } from './records-deps.ts';
import type { RecordsParts } from './records-parts.ts';
import { eraseDue } from './retention/erase-due.ts';
import { retentionCrons } from './retention/retention-crons.ts';
import { eraseRoute } from './routes/erase.ts';
import { ownDataRoutes } from './routes/own-data.ts';

/** A replica's erasures: their routes and their worker. */
export interface RecordsErasures {
  readonly routes: readonly Route[];
  /** The crons that keep collections as short as they want. */
  readonly crons: ProductCrons;
  /** Starts the worker. Call it after the hooks are loaded. */
  start(): void;
  stop(): Promise<void>;
}

/** Creates the erasures. */
export function createRecordsErasures(
  { database, bus, log, secret, cipher, collections: cache }: RecordsDeps,
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
    eraseMailsFrom: (query, addresses) => eraseMailsFrom(query, cipher, addresses),
    eraseDue,
    schedule: () => ({ cron: settings.get('backups.cron'), kept: settings.get('backups.keep') }),
  });
  const exportOwnData = createRunOwnData({
    ...records,
    database: background,
    collections: cache.all,
    reload: cache.reload,
    wakeRemovals: records.removals.wake,
  });
  const worker = createJobWorker({
    database: background,
    jobs: dataJobs,
    run: {
      erase: (job, ending) => erase(job as ErasureJob, ending),
      export: (job, ending) => exportOwnData(job as OwnDataJob, ending),
    },
    log,
    maxRunning: jobPlaces,
  });
  const wakeJobs = () => bus.notify('jobs');
  const { all, reload } = cache;
  const crons = createProductCrons(
    { database: background, log, clock: Date.now },
    retentionCrons({ database: background, log, collections: all, reload, wakeJobs }),
  );
  const removing = every({
    name: 'remove old erasures of retentions',
    log,
    intervalMs: 600_000,
    firstAfterMs: 5000,
    run: () => removeOldDataJobs(background.query, settings.get('jobs.retention_days')),
  });
  let endNotices = () => {};
  return {
    crons,
    routes: [
      eraseRoute({ records, database: database.of('admin'), hashOf, wakeJobs }),
      ...ownDataRoutes({ records, database, storage: records.storage, wakeJobs }),
    ],
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
      crons.start();
      removing.start();
    },
    async stop() {
      endNotices();
      await removing.stop();
      await crons.stop();
      await worker.stop();
    },
  };
}
