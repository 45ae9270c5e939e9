import type { Database } from '@recordbus/database';
import type { RunStatement } from '@recordbus/http';
import { runUnit, type UnitOfWork } from '@recordbus/journal';
import { keepAnnounced } from '../files/announced-files.ts';
import type { Upload } from '../files/upload-parts.ts';
import type { AfterCommit, AfterCommitWork } from './after-commit.ts';
import { limitTransactions, type TransactionLimits } from './limited-transactions.ts';
import { retryWhileTaken } from './record-taken.ts';
import type { WriteMode } from './write-mode.ts';

/** A record write's unit of work. */
export type WriteUnit = UnitOfWork<AfterCommitWork>;

/** How a write runs. */
export interface WriteOptions<T> {
  readonly mode: WriteMode;
  /**
   * Whether its commit need not wait for the disk (`isRelaxed`). A write with hooks always waits, since hooks may write
   * anything.
   */
  readonly isRelaxed?: boolean;
  /** The upload whose files the commit keeps. */
  readonly upload?: Pick<Upload, 'announced'> | undefined;
  /** Keeps the result for the request's idempotency key, in the same commit. */
  readonly keepAnswer?: ((result: T, query: RunStatement) => Promise<void>) | undefined;
}

/**
 * Runs a write's work. The work may run again when its transaction lost against another one, or when another request
 * has created its record, so it leaves nothing behind when it throws. Throws 409 for an upload that took too long, a
 * key that another request took meanwhile, or a record that keeps changing, and 503 when too many writes are waiting
 * for their hooks.
 */
export type RunWrite = <T>(options: WriteOptions<T>, work: (unit: WriteUnit) => Promise<T>) => Promise<T>;

interface WriteDeps {
  readonly database: Pick<Database, 'write' | 'transaction'>;
  /** The same database on connections whose commits do not wait for the disk. Without it, all commits do. */
  readonly relaxed?: Pick<Database, 'write' | 'transaction'>;
  readonly afterCommit: AfterCommit;
  /** For the transactions in which hooks run; requests' limits by default. */
  readonly limits?: TransactionLimits;
}

/**
 * Creates the function that runs writes: one statement in autocommit where that is enough, else one transaction with the
 * upload and the key, so a process that dies in the middle leaves everything or nothing.
 */
export function createRunWrite({ database, relaxed = database, afterCommit, limits }: WriteDeps): RunWrite {
  const hookedTransaction = limitTransactions(database, limits);
  return (options, work) => {
    const isAutocommit = options.mode === 'statement' && !options.keepAnswer && !options.upload?.announced.length;
    const { write, transaction } = options.isRelaxed ? relaxed : database;
    const inTransaction = options.mode === 'hooked' ? hookedTransaction : transaction;
    const commit: typeof transaction = isAutocommit ? (attempt) => attempt(write) : inTransaction;
    return retryWhileTaken(() => runUnit(commit, afterCommit, (unit) => workWithin(unit, options, work)));
  };
}

/** Runs writes within another unit, which commits them and runs their after-commit work. */
export const runWithin =
  (unit: WriteUnit): RunWrite =>
  (options, work) =>
    workWithin(unit, options, work);

async function workWithin<T>(
  unit: WriteUnit,
  { upload, keepAnswer }: WriteOptions<T>,
  work: (unit: WriteUnit) => Promise<T>,
): Promise<T> {
  if (upload?.announced.length) await keepAnnounced(unit.query, upload.announced);
  const result = await work(unit);
  await keepAnswer?.(result, unit.query);
  return result;
}
