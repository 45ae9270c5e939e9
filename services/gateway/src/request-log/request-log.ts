import { type Database, mapDatabaseError } from '@recordbus/database';
import type { Settings } from '@recordbus/settings';
import { skipped, whenWoken } from '@recordbus/shared/background';
import type { Span } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import { createRequestDays, type RequestDays } from './request-days.ts';
import type { LoggedRequest } from './request-row.ts';
import { type RequestSummary, summarizeRequests } from './request-summary.ts';
import { insertRequests, listRequests, type RequestFilter, type RequestPage } from './requests-table.ts';

/** Stores answered requests in the background. A request neither waits for its row nor fails because of it. */
export interface RequestLog {
  note(request: LoggedRequest): void;
  /** Returns a page of the stored requests, newest first. */
  list(filter: RequestFilter): Promise<RequestPage>;
  /** Counts and measures the stored requests of a span of time. */
  summarize(span: Span): Promise<RequestSummary>;
  /** Returns the number of rows that wait to be written. */
  waiting(): number;
  /** Returns the number of rows lost since the process started. */
  lost(): number;
  /** Call it once the settings are loaded. */
  start(): void;
  /** Writes the waiting rows if the database accepts them. */
  stop(): Promise<void>;
}

interface RequestLogDeps {
  readonly database: Pick<Database, 'query'>;
  readonly settings: Pick<Settings, 'get' | 'onChange'>;
  readonly log: Logger;
}

/** A batch is written when it is full, or this long after its first row, in milliseconds. */
const batchDelayMs = 1000;
const batchRows = 1000;
/**
 * The maximum number of rows that wait while the database does not answer, about 5 MB. Further rows are counted as
 * lost.
 */
const maxWaiting = 10_000;
/** Pause after a failed batch, in milliseconds. */
const retryMs = 2000;

/** The requests that wait to be written. */
interface Pending {
  rows: LoggedRequest[];
  /** The number of rows that were given up. */
  lost: number;
}

/** Creates the request log. It costs a few statements a second, whatever the load. */
export function createRequestLog({ database, settings, log }: RequestLogDeps): RequestLog {
  const days = createRequestDays({ database, settings, log });
  const pending: Pending = { rows: [], lost: 0 };
  let isWriting = false;
  const writing = whenWoken({
    name: 'write the request log',
    log,
    fields: () => ({ lost: pending.lost }),
    soonMs: batchDelayMs,
    retryMs: () => (pending.rows.length > 0 ? retryMs : Number.POSITIVE_INFINITY),
    run: writeAll,
  });

  async function writeAll(): Promise<typeof skipped | undefined> {
    if (pending.rows.length === 0) return skipped;
    isWriting = true;
    try {
      do await writeBatch(pending, days, database);
      while (pending.rows.length >= batchRows);
    } finally {
      isWriting = false;
    }
    if (pending.rows.length > 0) writing.wakeSoon();
    return undefined;
  }

  return {
    list: (filter) => listRequests(database.query, filter),
    summarize: (span) => summarizeRequests(database.query, span),
    waiting: () => pending.rows.length,
    lost: () => pending.lost,
    note(request) {
      if (pending.rows.length >= maxWaiting) {
        pending.lost += 1;
        return;
      }
      pending.rows.push(request);
      if (isWriting) return;
      if (pending.rows.length >= batchRows) writing.wake();
      else writing.wakeSoon();
    },
    start: () => days.start(),
    async stop() {
      await writing.stop();
      if (pending.rows.length > 0)
        await writeAll().catch((error) => log.warn({ err: error, lost: pending.lost }, 'cannot write the request log'));
      await days.stop();
    },
  };
}

/** Writes the oldest rows. Throws when the database refuses them (they are lost) or does not answer (they wait). */
async function writeBatch(
  pending: Pending,
  days: Pick<RequestDays, 'ensure'>,
  { query }: RequestLogDeps['database'],
): Promise<void> {
  const batch = pending.rows.slice(0, batchRows);
  const drop = () => {
    pending.rows = pending.rows.slice(batch.length);
  };
  try {
    await days.ensure(batch.map(({ at }) => at));
    await insertRequests(query, batch);
    drop();
  } catch (error) {
    // Rows wait while the database does not answer. A batch that it refuses would be refused again, so it is dropped.
    if (mapDatabaseError(error)?.status !== 503) {
      pending.lost += batch.length;
      drop();
    }
    throw error;
  }
}
