import { client } from '../api/client.ts';
import { type CursorPage, readPage } from '../api/records.ts';
import type { Sought } from './plain-words.ts';

/** How many records one batch deletes. */
const atOnce = 500;
/** How many restores may run at once. */
const restoredAtOnce = 4;

/** Deletes records in batches, each all or nothing. Reports the number deleted so far. Stops when aborted. */
export async function deleteRecords(
  collection: string,
  ids: readonly string[],
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (deleted: number) => void },
): Promise<void> {
  for (let from = 0; from < ids.length && !signal.aborted; from += atOnce) {
    const some = ids.slice(from, from + atOnce);
    await client.batch((batch) => some.map((id) => batch.from(collection).delete(id)));
    onProgress(from + some.length);
  }
}

/** Reads the ids of all records that match. */
export async function idsOf(collection: string, sought: Sought, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  const request = { collection, ...sought, perPage: 1000, sort: '', fields: ['id'], expand: [], signal };
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: CursorPage = await readPage({ ...request, cursor });
    ids.push(...page.data.map(({ id }) => id));
    cursor = page.next;
  }
  return ids;
}

/** Restores deleted records from the last version in their history. Returns how many failed. */
export async function restoreRecords(collection: string, ids: readonly string[]): Promise<number> {
  const records = client.from(collection);
  const waiting = [...ids];
  let failed = 0;
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        const page = (await records.history(id, { perPage: 1 })) as unknown;
        const rows = Array.isArray(page)
          ? page
          : (page as { readonly data: readonly { readonly version: string }[] }).data;
        const [last] = rows;
        if (last) await records.restore(id, { version: last.version, deleted: true });
        else failed += 1;
      } catch {
        failed += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: restoredAtOnce }, work));
  return failed;
}
