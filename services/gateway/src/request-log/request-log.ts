import { type Database, mapDatabaseError } from '@recordbus/database';
import type { Settings } from '@recordbus/settings';
import { skipped, whenWoken } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import { createRequestDays } from './request-days.ts';
import type { LoggedRequest } from './request-row.ts';
import { insertRequests, listRequests, type RequestFilter, type RequestPage } from './requests-table.ts';

/** Keeps what was answered, in the background: a request never waits for its row, nor fails with it. */
export interface RequestLog {
  note(request: LoggedRequest): void;
  /** What was written, the newest first. */
  list(filter: RequestFilter): Promise<RequestPage>;
  /** Rows that are still to be written. */
  waiting(): number;
  /** Rows that were not written, since the process began. */
  lost(): number;
  /** To be called when the settings are loaded. */
  start(): void;
  /** Writes what is waiting, if the database takes it. */
  stop(): Promise<void>;
}

interface RequestLogDeps {
  readonly database: Pick<Database, 'query'>;
  readonly settings: Pick<Settings, 'get' | 'onChange'>;
  readonly log: Logger;
}

/** Rows are written together, this long after the first of them at most, in milliseconds, or when a batch is full. */
const gatheringMs = 1000;
const batchRows = 1000;
/** While the database is away this many rows wait, some 5 MB; what comes then is counted and lost. */
const maxWaiting = 10_000;
/** Pause before a database that did not take a batch is asked again, in milliseconds. */
const failureMs = 2000;

/** Makes it, on a few statements a second whatever the load. */
export function createRequestLog({ database, settings, log }: RequestLogDeps): RequestLog {
  const days = createRequestDays({ database, settings, log });
  let waiting: LoggedRequest[] = [];
  let lost = 0;
  let isWriting = false;
  const writing = whenWoken({
    name: 'write the request log',
    log,
    fields: () => ({ lost }),
    soonMs: gatheringMs,
    retryMs: () => (waiting.length > 0 ? failureMs : Number.POSITIVE_INFINITY),
    run: writeAll,
  });

  async function writeBatch(): Promise<void> {
    const batch = waiting.slice(0, batchRows);
    const drop = () => {
      waiting = waiting.slice(batch.length);
    };
    try {
      await days.ensure(batch.map(({ at }) => at));
      await insertRequests(database.query, batch);
      drop();
    } catch (error) {
      // What the database is not there for can wait; what it refuses it would refuse again.
      if (mapDatabaseError(error)?.status !== 503) {
        lost += batch.length;
        drop();
      }
      throw error;
    }
  }

  async function writeAll(): Promise<typeof skipped | undefined> {
    if (waiting.length === 0) return skipped;
    isWriting = true;
    try {
      do await writeBatch();
      while (waiting.length >= batchRows);
    } finally {
      isWriting = false;
    }
    if (waiting.length > 0) writing.wakeSoon();
    return undefined;
  }

  return {
    list: (filter) => listRequests(database.query, filter),
    waiting: () => waiting.length,
    lost: () => lost,
    note(request) {
      if (waiting.length >= maxWaiting) {
        lost += 1;
        return;
      }
      waiting.push(request);
      if (isWriting) return;
      if (waiting.length >= batchRows) writing.wake();
      else writing.wakeSoon();
    },
    start: () => days.start(),
    async stop() {
      await writing.stop();
      if (waiting.length > 0)
        await writeAll().catch((error) => log.warn({ err: error, lost }, 'cannot write the request log'));
      await days.stop();
    },
  };
}
