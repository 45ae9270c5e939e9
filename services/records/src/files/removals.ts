import type { Database, Query } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';
import { fileKey, type Storage } from '@recordbus/storage';

/** How often a replica looks for files to remove, in milliseconds. */
const pollIntervalMs = 5000;
const batchSize = 20;

/** Removes the bytes that nothing refers to any more. */
export interface Removals {
  /** To be called after a commit that dropped files; answers never wait for it. */
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
  readonly log: Logger;
}

/**
 * Makes the sweeper of `system.file_removals`: whichever replica comes first removes. A row is locked until its bytes
 * are gone, so that an upload which is committed in this moment finds it gone or takes it back, never both.
 */
export function createRemovals({ database, storage, log }: RemovalDeps): Removals {
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | undefined;
  let isWanted = false;
  let isStopped = false;

  async function remove({ collection_id, record_id, name }: Removal): Promise<void> {
    if (record_id === null) return storage.deleteCollection(collection_id);
    if (name === null) return storage.deleteRecord(collection_id, record_id);
    const key = fileKey(collection_id, record_id, name);
    if (key) await storage.delete(key);
  }

  async function sweepBatch(query: Query): Promise<number> {
    // A backup holds this until it has copied every file that its snapshot names.
    const [hold] = await query<{ free: boolean }>({
      text: "select pg_try_advisory_xact_lock_shared(hashtext('recordbus.files')) as free",
      values: [],
    });
    if (!hold?.free) return 0;
    const rows = await query<Removal>({
      text: `select id, collection_id, record_id, name from system.file_removals
where due_at <= now() order by due_at limit ${batchSize} for update skip locked`,
      values: [],
    });
    const outcomes = await Promise.allSettled(rows.map(remove));
    const failed = rows.filter((_, index) => outcomes[index]?.status === 'rejected').map(({ id }) => id);
    const reason = outcomes.find((outcome) => outcome.status === 'rejected')?.reason;
    if (failed.length > 0) log.warn({ err: reason, files: failed.length }, 'files could not be removed yet');
    const gone = rows.map(({ id }) => id).filter((id) => !failed.includes(id));
    await query({ text: 'delete from system.file_removals where id = any($1::bigint[])', values: [gone] });
    await query({
      text: `update system.file_removals set due_at = now() + interval '1 minute' where id = any($1::bigint[])`,
      values: [failed],
    });
    return rows.length;
  }

  async function sweep(): Promise<void> {
    do {
      isWanted = false;
      while (!isStopped && (await database.transaction(sweepBatch)) === batchSize);
    } while (isWanted && !isStopped);
    await database.query({ text: 'delete from system.used_file_tokens where expires_at < now()', values: [] });
  }

  function wake(): void {
    if (isStopped) return;
    isWanted = true;
    sweeping ??= sweep()
      .catch((error) => log.warn({ err: error }, 'files that are to be removed were not looked for'))
      .finally(() => {
        sweeping = undefined;
      });
  }

  return {
    wake,
    start() {
      timer = setInterval(wake, pollIntervalMs);
    },
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await sweeping;
    },
  };
}
