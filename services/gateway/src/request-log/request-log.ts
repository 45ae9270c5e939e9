import { type Database, mapDatabaseError, type Query } from '@recordbus/database';
import type { Span } from '@recordbus/http';
import { skipped, whenWoken } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { hasCode } from '@recordbus/process/system-error';
import type { Settings } from '@recordbus/settings';
import { createRefusalMerger } from './merge-refusals.ts';
import { createRequestDays, type RequestDays } from './request-days.ts';
import type { LoggedRequest, WaitingRow } from './request-row.ts';
import { type RequestSummary, summarizeRequests } from './request-summary.ts';
import { insertRequests, listRequests, type RequestFilter, type RequestPage } from './requests-table.ts';

/** Stores answered requests in the background. A request neither waits for its row nor fails because of it. */
export interface RequestLog {
  note(request: LoggedRequest): void;
  /**
   * Notes a refusal that its client may repeat without end. One client's refusals in one second become one row (admins
   * §7.3).
   */
  noteRefusal(client: string, describe: () => LoggedRequest): void;
  /** Returns a page of stored requests, newest first. */
  list(filter: RequestFilter): Promise<RequestPage>;
  /** Counts and measures the stored requests in a time range. */
  summarize(span: Span): Promise<RequestSummary>;
  /** Returns how many rows wait to be written. */
  waiting(): number;
  /** Returns how many requests were lost since the process started. */
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
/** How many rows may wait while the database does not answer, about 5 MB. Further rows are counted as lost. */
const maxWaiting = 10_000;
/** An estimate for a row with its index entries, in bytes. */
const rowBytes = 500;
/** SQLSTATE for a row that no partition takes. */
const noPartition = '23514';
/** Pause after a failed batch, in milliseconds. */
const retryMs = 2000;

/** The requests that wait to be written. */
interface Pending {
  rows: WaitingRow[];
  /** How many rows were given up. */
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

  function add(row: WaitingRow): void {
    if (pending.rows.length >= maxWaiting) {
      pending.lost += row.count;
      return;
    }
    pending.rows.push(row);
    if (isWriting) return;
    if (pending.rows.length >= batchRows) writing.wake();
    else writing.wakeSoon();
  }

  const refusals = createRefusalMerger<LoggedRequest>((first, count) => add({ ...first, count }));

  return {
    list: (filter) => listRequests(database.query, filter),
    summarize: (span) => summarizeRequests(database.query, span),
    waiting: () => pending.rows.length + refusals.waiting(),
    lost: () => pending.lost,
    note: (request) => add({ ...request, count: 1 }),
    noteRefusal: refusals.add,
    start: () => days.start(),
    async stop() {
      refusals.flush();
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
  days: Pick<RequestDays, 'ensure' | 'forget' | 'noteWritten'>,
  { query }: RequestLogDeps['database'],
): Promise<void> {
  const batch = pending.rows.slice(0, batchRows);
  const drop = () => {
    pending.rows = pending.rows.slice(batch.length);
  };
  try {
    await insertBatch(batch, days, query);
    drop();
    days.noteWritten(batch.length * rowBytes);
  } catch (error) {
    // Rows wait while the database does not answer. A batch that it refuses would be refused again, so it is dropped.
    if (mapDatabaseError(error)?.status !== 503) {
      for (const { count } of batch) pending.lost += count;
      drop();
    }
    throw error;
  }
}

async function insertBatch(
  batch: readonly WaitingRow[],
  days: Pick<RequestDays, 'ensure' | 'forget'>,
  query: Query,
): Promise<void> {
  const times = batch.map(({ at }) => at);
  await days.ensure(times);
  try {
    await insertRequests(query, batch);
  } catch (error) {
    if (!hasCode(error, noPartition)) throw error;
    days.forget();
    await days.ensure(times);
    await insertRequests(query, batch);
  }
}
