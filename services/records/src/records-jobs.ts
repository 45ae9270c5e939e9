import type { Route } from '@recordbus/http';
import { every } from '@recordbus/process/background';
import { findKeyPrincipal } from '@recordbus/sessions';
import { addJobMetrics } from './jobs/job-metrics.ts';
import { importJobs, removeOldJobs } from './jobs/job-store.ts';
import { createRequestPrecedence } from './jobs/request-precedence.ts';
import { createJobWorker } from './jobs/worker.ts';
import type { RecordSubjects } from './record-subjects.ts';
import type { RecordsDeps } from './records-deps.ts';
import type { RecordsParts } from './records-parts.ts';
import { importRoute } from './routes/import.ts';
import { jobRoutes } from './routes/jobs.ts';
import { bodiesOf, bodyName } from './transfer/import/job-body.ts';
import { createRunImport } from './transfer/import/run-import.ts';

/** A replica's jobs: their routes and their worker. */
export interface RecordsJobs {
  readonly routes: readonly Route[];
  /** Notes that a request has arrived, which takes precedence over jobs. */
  noteRequest(): void;
  /** Starts the worker. Call it after the hooks are loaded. */
  start(): void;
  stop(): Promise<void>;
}

/** Creates the jobs. */
export function createRecordsJobs(
  { database, bus, log, storage, collections: cache }: RecordsDeps,
  { settings, metrics }: Pick<RecordsParts, 'settings' | 'metrics'>,
  records: RecordSubjects,
): RecordsJobs {
  const background = database.of('background');
  const precedence = createRequestPrecedence();
  const findById = (id: string) => cache.all().find((collection) => collection.id === id);
  const rows = addJobMetrics(metrics, background.query);
  const run = {
    import: createRunImport({
      findKey: (id) => findKeyPrincipal(database.query, id),
      ...records,
      write: records.writeInBackground,
      findById,
      reload: cache.reload,
      yieldToRequests: precedence.yieldToRequests,
      rows,
    }),
  };
  const worker = createJobWorker({ database: background, jobs: importJobs, run, log });
  const removing = every({
    name: 'remove old jobs',
    log,
    intervalMs: 600_000,
    firstAfterMs: 5000,
    run: () => removeOldJobs(background.query, settings.get('jobs.retention_days'), bodiesOf, bodyName),
  });
  const wakeJobs = () => bus.notify('jobs');
  const maxBodyBytes = () => settings.get('jobs.max_body_bytes');
  let endNotices = () => {};
  return {
    routes: [
      importRoute({ ...records, admin: database.of('admin'), maxBodyBytes, wakeJobs, reload: cache.reload }),
      ...jobRoutes({ database, storage, wakeJobs }),
    ],
    noteRequest: precedence.note,
    start() {
      endNotices = bus.onNotice('jobs', worker.wake);
      worker.start();
      removing.start();
    },
    async stop() {
      endNotices();
      await removing.stop();
      await worker.stop();
    },
  };
}
