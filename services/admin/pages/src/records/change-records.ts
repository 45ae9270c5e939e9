import { client } from '../api/client.ts';

/** How many records one batch changes. */
const atOnce = 500;

/** Writes the same values into records, in batches, each all or nothing. Reports each batch's size. Stops when aborted. */
export async function changeRecords(
  collection: string,
  ids: readonly string[],
  values: Readonly<Record<string, unknown>>,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (count: number) => void },
): Promise<void> {
  for (let from = 0; from < ids.length && !signal.aborted; from += atOnce) {
    const some = ids.slice(from, from + atOnce);
    await client.batch((batch) => some.map((id) => batch.from(collection).update(id, values)));
    onProgress(some.length);
  }
}
