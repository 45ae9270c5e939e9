import { AppError, rateLimited } from '@recordbus/errors';
import type { Caller } from '@recordbus/limits/fair-gate';
import { currentCaller } from '@recordbus/request/request-scope';
import { throwNoted } from '../errors.ts';
import type { Query, Statement } from '../statement.ts';
import { oneSnapshot } from './read-slots.ts';

/** A statement's rows as JSON texts, from one snapshot, read in parts. It occupies a connection until it is closed. */
export interface Cursor {
  /** Returns the next rows' texts; none at the end. Call it again only after it has returned. */
  next(): Promise<readonly string[]>;
  /** Whether another client waits for the connection. */
  isWanted(): boolean;
  /** Frees the connection. Resolves when it is free; never rejects. */
  close(): Promise<void>;
}

type OpenCursor = (statement: Statement, statementMs: number) => Promise<Cursor>;

type RunTransaction = (work: (query: Query) => Promise<void>, statementMs: number) => Promise<void>;

/** A part has at most `rows`. It ends early when it has enough bytes or has taken enough time. */
const partLimits = { rows: 1000, enoughBytes: 2 ** 18, enoughMs: 200 };

/** When a client that got no cursor should retry, in seconds. A cursor is open as long as its client reads. */
const retryAfterSec = 5;

/**
 * Separates a part's texts. JSON escapes this character, so no text contains it. As one text, a part costs the driver
 * and the garbage collector a fraction.
 */
const recordSeparator = '\x1e';

const nextPart: Statement = {
  name: 'cursor.next',
  text: `select string_agg(f.row_text, e'\\x1e') as part
from system.fetch_within('reading', $1, $2, make_interval(secs => $3 / 1000.0)) f(row_text)`,
  values: [partLimits.rows, partLimits.enoughBytes, partLimits.enoughMs],
};

/** The error if a client, or the process, has all of its cursors open. */
export const refuseCursor = (because: 'client' | 'all'): Error =>
  because === 'client'
    ? rateLimited(retryAfterSec)
    : new AppError(503, 'unavailable', 'too many exports are running', {
        headers: { 'Retry-After': String(retryAfterSec) },
      });

/**
 * Creates the function that opens a cursor in its own transaction. Its statement has one column: JSON as text. The
 * statement time applies to each part.
 */
export const createOpenCursor =
  (run: RunTransaction, isWanted: (caller: Caller) => boolean): OpenCursor =>
  async (statement, statementMs) => {
    const caller = currentCaller();
    const opened = Promise.withResolvers<Cursor>();
    const closed = Promise.withResolvers<void>();
    const isOver = run(async (query) => {
      await query(oneSnapshot);
      await query({ text: `declare reading no scroll cursor for ${statement.text}`, values: statement.values });
      opened.resolve({
        async next() {
          const [row] = await query<{ part: string | null }>(nextPart).catch((error) => throwNoted(error, statement));
          return row?.part?.split(recordSeparator) ?? [];
        },
        isWanted: () => isWanted(caller),
        async close() {
          closed.resolve();
          await isOver;
        },
      });
      await closed.promise;
      // If the connection was lost meanwhile, ending the transaction fails, and the connection is not used again.
    }, statementMs).catch(opened.reject);
    return opened.promise;
  };
