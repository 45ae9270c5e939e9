import { client } from '../api/client.ts';

/** As many records as one batch deletes. */
const atOnce = 500;
/** As many records as are restored at the same time. */
const restoredAtOnce = 4;

/** Deletes records, all of a batch or none of it. Tells how many are deleted so far, and stops when told to. */
export async function deleteRecords(
  collection: string,
  ids: readonly string[],
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (deleted: number) => void },
): Promise<void> {
  for (let from = 0; from < ids.length && !signal.aborted; from += atOnce) {
    const some = ids.slice(from, from + atOnce);
    await client.batch((batch) => some.map((id) => batch.from(collection).delete(id)));
    tell(from + some.length);
  }
}

/** Reads the ids of all records that fulfil a filter. */
export async function idsOf(collection: string, filter: string, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of client
    .from(collection)
    .all({ fields: ['id'], perPage: 1000, filter: filter || undefined, signal } as never))
    ids.push(id as string);
  return ids;
}

/** Creates deleted records again, from the last versions of their history. Returns how many it could not. */
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
