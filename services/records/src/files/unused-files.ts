import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';

/**
 * Lists files for removal whose record does not exist: no create has kept them. It leaves files that are listed already:
 * those of a deleted record, and those of running uploads that have a row each.
 */
export async function removeUnused(
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

/** Lists all files of a collection for removal if it was dropped, perhaps while they arrived. Returns whether it was. */
export async function removeOfDropped(query: Query, collectionId: string): Promise<boolean> {
  const rows = await query({
    text: `insert into system.file_removals (collection_id)
select $1 where not exists (select from system.collections where id = $1) returning id`,
    values: [collectionId],
  });
  return rows.length > 0;
}
