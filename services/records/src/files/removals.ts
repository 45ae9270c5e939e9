import { type Database, locks, type Query } from '@recordbus/database';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Collection } from '@recordbus/schema';
import { fileKey, type Storage } from '@recordbus/storage';
import { cleanAbandonedRange, everyName } from './abandoned-range.ts';
import { findListed } from './announced-files.ts';
import { forgetFiles } from './uploaded-files.ts';

/** How often a replica looks for files to remove, in milliseconds. */
const pollIntervalMs = 5000;
const batchSize = 20;

/** Removes the bytes that no record's file has. */
export interface Removals {
  /** Starts a removal after a commit that dropped files. Answers never wait for it. */
  wake(): void;
  start(): void;
  stop(): Promise<void>;
}

interface Removal {
  readonly id: number;
  readonly collection_id: string;
  readonly record_id: string | null;
  readonly name: string | null;
}

interface RemovalDeps {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly storage: Storage;
  readonly collections: () => readonly Collection[];
  readonly log: Logger;
}

/**
 * Creates the background task that processes `system.file_removals`, on any replica. A row stays locked until its bytes
 * are gone, so an upload's commit either finds the row gone or deletes it, never both. A deleted record's removal
 * leaves files that are announced, since an upload may create the record again.
 */
export function createRemovals({ database, storage, collections, log }: RemovalDeps): Removals {
  const removing = every({
    name: 'remove files without a record',
    log,
    intervalMs: pollIntervalMs,
    firstAfterMs: pollIntervalMs,
    run: removeAll,
  });

  async function remove({ collection_id, record_id, name }: Removal): Promise<void> {
    if (record_id !== null && name === everyName) {
      const collection = collections().find(({ id }) => id === collection_id);
      // A dropped collection's files have all been listed.
      if (collection) await cleanAbandonedRange({ query: database.query, storage }, collection, record_id);
      return;
    }
    const removed = { collectionId: collection_id, recordId: record_id, name };
    if (record_id !== null && name === null) {
      const kept = await findListed(database.query, collection_id, record_id);
      await storage.deleteRecord(collection_id, record_id, kept);
      await forgetFiles(database.query, { ...removed, kept });
      return;
    }
    const key = record_id !== null && name !== null ? fileKey(collection_id, record_id, name) : undefined;
    if (record_id === null) await storage.deleteCollection(collection_id);
    else if (key) await storage.delete(key);
    await forgetFiles(database.query, removed);
  }

  async function removeBatch(query: Query): Promise<number> {
    // A backup holds the lock until it has copied every file that its snapshot names.
    const rows = await query<Removal>({
      text: `select id, collection_id, record_id, name from system.file_removals
where due_at <= now() and (select pg_try_advisory_xact_lock_shared(${locks.storedFiles}))
order by due_at limit ${batchSize} for update skip locked`,
      values: [],
    });
    if (rows.length === 0) return 0;
    const outcomes = await Promise.allSettled(rows.map(remove));
    const failed = rows.filter((_, index) => outcomes[index]?.status === 'rejected').map(({ id }) => id);
    const reason = outcomes.find((outcome) => outcome.status === 'rejected')?.reason;
    if (failed.length > 0) log.warn({ err: reason, files: failed.length }, 'cannot remove files, will retry');
    const gone = rows.map(({ id }) => id).filter((id) => !failed.includes(id));
    await query({
      text: `with gone as (delete from system.file_removals where id = any($1::bigint[]))
update system.file_removals set due_at = now() + interval '1 minute' where id = any($2::bigint[])`,
      values: [gone, failed],
    });
    return rows.length;
  }

  async function removeAll(ending: AbortSignal): Promise<void> {
    while (!ending.aborted && (await database.transaction(removeBatch)) === batchSize);
    await database.query({ text: 'delete from system.used_file_tokens where expires_at < now()', values: [] });
  }

  return { wake: removing.wake, start: removing.start, stop: removing.stop };
}
