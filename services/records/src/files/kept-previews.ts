import type { Query } from '@recordbus/database';
import { whenWoken } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { fileKey, type Storage, type StoredPreview } from '@recordbus/storage';

/** Lists the previews in the store, for all replicas, and removes the least recently used ones (files §5.4). */
export interface KeptPreviews {
  /** Notes that a preview was used. For a new one, old previews are removed in the background. */
  note(preview: StoredPreview, isNew: boolean): Promise<void>;
  /** Lists earlier releases' previews, once for all replicas. */
  start(): void;
  stop(): Promise<void>;
}

interface KeptPreviewsDeps {
  readonly query: Query;
  readonly storage: Pick<Storage, 'delete' | 'listPreviews'>;
  readonly log: Logger;
  readonly maxBytes: () => number;
}

/**
 * How often a process notes that a preview was used, in milliseconds: more precision would not change what is removed.
 */
const noteEveryMs = 3600 * 1000;
const maxNoted = 10_000;
/** The share of the limit that remains after a removal, so that not every new preview causes one. */
const keptShare = 0.9;
const removalBatch = 200;

/** Creates this process's preview list. */
export function createKeptPreviews({ query, storage, log, maxBytes }: KeptPreviewsDeps): KeptPreviews {
  const noted = new Map<string, number>();
  const trimming = whenWoken({ name: 'remove old previews', log, run: trim });
  let listing = Promise.resolve();
  let isStopped = false;

  function isDue(path: string): boolean {
    if (performance.now() < (noted.get(path) ?? 0)) return false;
    noted.delete(path);
    noted.set(path, performance.now() + noteEveryMs);
    const [oldest] = noted.keys();
    if (noted.size > maxNoted && oldest !== undefined) noted.delete(oldest);
    return true;
  }

  async function trim(ending: AbortSignal): Promise<void> {
    while (!ending.aborted && (await removeOldest()) === removalBatch);
  }

  /**
   * Removes previews beyond the limit. Files are deleted before their rows, so a process that dies in between retries.
   */
  async function removeOldest(): Promise<number> {
    const rows = await findOverLimit(query, maxBytes());
    for (const { collection_id, record_id, name } of rows) {
      const key = fileKey(collection_id, record_id, name);
      if (key) await storage.delete(key);
    }
    await forget(query, rows);
    return rows.length;
  }

  async function listOnce(): Promise<void> {
    const [done] = await query({ text: 'select 1 from system.previews_counted', values: [] });
    if (done) return;
    for await (const preview of storage.listPreviews()) {
      if (isStopped) return;
      await insertOld(query, preview);
    }
    await query({ text: 'insert into system.previews_counted default values', values: [] });
    trimming.wake();
  }

  return {
    async note(preview, isNew) {
      const path = preview.key.segments.join('/');
      if (!isDue(path) && !isNew) return;
      await insertUsed(query, preview);
      if (isNew) trimming.wake();
    },
    start() {
      listing = listOnce().catch((error) => log.warn({ err: error }, 'cannot list the previews'));
    },
    async stop() {
      isStopped = true;
      await Promise.all([trimming.stop(), listing]);
    },
  };
}

interface PreviewRow {
  readonly collection_id: string;
  readonly record_id: string;
  readonly name: string;
  readonly used_at: string;
}

const insert = 'insert into system.previews (collection_id, record_id, name, bytes, used_at) values ($1, $2, $3, $4, ';

async function insertUsed(query: Query, { key, sizeBytes }: StoredPreview): Promise<void> {
  await query({
    text: `${insert} now()) on conflict (collection_id, record_id, name)
      do update set bytes = excluded.bytes, used_at = excluded.used_at`,
    values: [...key.segments, sizeBytes],
  });
}

/** Lists a preview whose last use is unknown, so it is removed first. */
async function insertOld(query: Query, { key, sizeBytes }: StoredPreview): Promise<void> {
  await query({
    text: `${insert} 'epoch') on conflict (collection_id, record_id, name) do nothing`,
    values: [...key.segments, sizeBytes],
  });
}

/** The least recently used previews beyond nine tenths of the limit; none while all fit the limit. */
function findOverLimit(query: Query, maxBytes: number): Promise<PreviewRow[]> {
  return query<PreviewRow>({
    text: `select collection_id, record_id, name, used_at::text from (
        select collection_id, record_id, name, used_at,
          sum(bytes) over (order by used_at desc, collection_id, record_id, name) as upto,
          sum(bytes) over () as total
        from system.previews
      ) counted where total > $1::bigint and upto > $2::bigint order by used_at limit $3`,
    values: [maxBytes, Math.floor(maxBytes * keptShare), removalBatch],
  });
}

/** Deletes removed previews' rows, except those used meanwhile. */
async function forget(query: Query, rows: readonly PreviewRow[]): Promise<void> {
  const column = (name: keyof PreviewRow) => rows.map((row) => row[name]);
  await query({
    text: `delete from system.previews p
      using unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) as g (collection_id, record_id, name, used_at)
      where p.collection_id = g.collection_id and p.record_id = g.record_id and p.name = g.name and p.used_at = g.used_at`,
    values: [column('collection_id'), column('record_id'), column('name'), column('used_at')],
  });
}
