import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';
import type { Storage } from '@recordbus/storage';

/** The name in a range's row. No file has it. */
export const everyName = '*';

/** How many files one statement looks up. */
const filesAtOnce = 1000;

/**
 * Lists files for removal that an earlier version left: those of records whose ids have this start and that do not
 * exist. Such a version announced an id range instead of each file. A migration has listed its open ranges.
 */
export async function cleanAbandonedRange(
  { query, storage }: { readonly query: Query; readonly storage: Storage },
  collection: Collection,
  idsStart: string,
): Promise<void> {
  const files: { readonly recordId: string; readonly name: string }[] = [];
  for await (const { segments } of storage.list(collection.id, idsStart))
    files.push({ recordId: segments[1], name: segments[2] });
  for (let from = 0; from < files.length; from += filesAtOnce)
    await removeUnused(query, collection, files.slice(from, from + filesAtOnce));
}

/** It leaves files that are listed already: a deleted record's, and those that running uploads have announced. */
async function removeUnused(
  query: Query,
  collection: Collection,
  files: readonly { readonly recordId: string; readonly name: string }[],
): Promise<void> {
  await query({
    text: `insert into system.file_removals (collection_id, record_id, name)
select $1, f.record_id, f.name from unnest($2::text[], $3::text[]) f(record_id, name)
where not exists (select from ${tableOf(collection)} t where t.id = f.record_id)
  and not exists (select from system.file_removals r
    where r.collection_id = $1 and r.record_id = f.record_id and (r.name is null or r.name = f.name))`,
    values: [collection.id, files.map(({ recordId }) => recordId), files.map(({ name }) => name)],
  });
}
