import { type Database, mapDatabaseError } from '@recordbus/database';
import type { Settings } from '@recordbus/settings';
import type { Logger } from '@recordbus/shared/logging';
import { createRequestDays } from './request-days.ts';
import type { LoggedRequest } from './request-row.ts';
import { insertRequests, listRequests, type RequestPage, type WantedRequests } from './requests-table.ts';

/** Keeps what was answered, in the background: a request never waits for its row, nor fails with it. */
export interface RequestLog {
  note(request: LoggedRequest): void;
  /** What was written, the newest first. */
  list(wanted: WantedRequests): Promise<RequestPage>;
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
  let isFailing = false;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  async function writeBatch(): Promise<void> {
    const batch = waiting.slice(0, batchRows);
    try {
      await days.ensure(batch.map(({ at }) => at));
      await insertRequests(database.query, batch);
      if (isFailing) log.info({ lost }, 'the request log is kept again');
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'the request log could not be written');
      isFailing = true;
      // What the database is not there for can wait; what it refuses it would refuse again.
      if (mapDatabaseError(error)?.status === 503) return;
      lost += batch.length;
    }
    waiting = waiting.slice(batch.length);
  }

  async function writeAll(): Promise<void> {
    do await writeBatch();
    while (waiting.length >= batchRows && !isFailing);
  }

  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeAll().finally(() => {
      writing = undefined;
      if (waiting.length > 0) schedule(isFailing ? failureMs : gatheringMs);
    });
    return writing;
  }

  function schedule(afterMs: number): void {
    timer ??= setTimeout(() => void write(), afterMs);
  }

  return {
    list: (wanted) => listRequests(database.query, wanted),
    waiting: () => waiting.length,
    lost: () => lost,
    note(request) {
      if (waiting.length >= maxWaiting) {
        lost += 1;
        return;
      }
      waiting.push(request);
      if (writing) return;
      if (waiting.length >= batchRows && !isFailing) void write();
      else schedule(gatheringMs);
    },
    start: () => days.start(),
    async stop() {
      await writing;
      if (waiting.length > 0) await write();
      clearTimeout(timer);
      await days.stop();
    },
  };
}
