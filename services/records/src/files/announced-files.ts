import type { Query } from '@recordbus/database';
import { conflict } from '@recordbus/shared/errors';

/** For how long an upload that says nothing more is thought to be going on. */
const patience = "interval '15 minutes'";

/** Says that bytes are about to be written, to be removed unless a commit takes that back. Gives the row's id. */
export async function announceFile(
  query: Query,
  file: { readonly collectionId: string; readonly recordId: string; readonly name: string },
): Promise<number> {
  const [row] = await query<{ id: number }>({
    name: 'announce-file',
    text: `insert into system.file_removals (collection_id, record_id, name, due_at)
values ($1, $2, $3, now() + ${patience}) returning id`,
    values: [file.collectionId, file.recordId, file.name],
  });
  if (!row) throw new Error('the announcement of a file gave no row');
  return row.id;
}

/** Says that the uploads are still going on. */
export async function renewAnnounced(query: Query, ids: readonly number[]): Promise<void> {
  await query({
    text: `update system.file_removals set due_at = now() + ${patience} where id = any($1::bigint[])`,
    values: [ids],
  });
}

/** Keeps the files, in the transaction that writes their names. Throws 409 when one of them was removed meanwhile. */
export async function keepAnnounced(query: Query, ids: readonly number[]): Promise<void> {
  const kept = await query({
    text: 'delete from system.file_removals where id = any($1::bigint[]) returning id',
    values: [ids],
  });
  if (kept.length < ids.length) throw conflict('upload_expired', 'the upload took too long; send it again');
}

/** Has the files removed at once. Those that were kept stay: whoever lost sight of a commit may ask for it. */
export async function dropAnnounced(query: Query, ids: readonly number[]): Promise<void> {
  await query({
    text: 'update system.file_removals set due_at = now() where id = any($1::bigint[])',
    values: [ids],
  });
}

/** Keeps files of a record that were to be removed, in the transaction that writes their names again. */
export async function keepNamed(
  query: Query,
  files: { readonly collectionId: string; readonly recordId: string; readonly names: readonly string[] },
): Promise<void> {
  if (files.names.length === 0) return;
  await query({
    text: 'delete from system.file_removals where collection_id = $1 and record_id = $2 and name = any($3::text[])',
    values: [files.collectionId, files.recordId, files.names],
  });
}

/** Has files of a record removed after all that `keepNamed` has kept for a write that does not name them any more. */
export async function dropNamed(
  query: Query,
  files: { readonly collectionId: string; readonly recordId: string; readonly names: readonly string[] },
): Promise<void> {
  if (files.names.length === 0) return;
  await query({
    text: 'insert into system.file_removals (collection_id, record_id, name) select $1, $2, unnest($3::text[])',
    values: [files.collectionId, files.recordId, files.names],
  });
}
