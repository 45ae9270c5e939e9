import { client } from '../api/client.ts';

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

/** Reads the ids of all records that match a filter. */
export async function idsOf(collection: string, filter: string, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of client
    .from(collection)
    .all({ fields: ['id'], perPage: 1000, filter: filter || undefined, signal } as never))
    ids.push(id as string);
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
