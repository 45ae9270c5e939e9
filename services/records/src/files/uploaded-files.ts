import type { Query } from '@recordbus/database';
import { previewMark } from '@recordbus/storage';
import type { FileFacts } from './announced-files.ts';

/** A stored file; without a name all files of a record, and without an id all of a collection. */
interface RemovedFiles {
  readonly collectionId: string;
  readonly recordId: string | null;
  readonly name: string | null;
  /** The record's files that stay. */
  readonly kept?: ReadonlySet<string>;
}

/** Deletes what the database says about files and previews whose bytes are gone. */
export async function forgetFiles(
  query: Query,
  { collectionId, recordId, name, kept = new Set() }: RemovedFiles,
): Promise<void> {
  await query({
    text: `with previews as (
  delete from system.previews where collection_id = $1
    and ($2::text is null or record_id = $2) and ($4::text is null or starts_with(name, $4))
) delete from system.uploaded_files where collection_id = $1
    and ($2::text is null or record_id = $2) and ($3::text is null or name = $3) and not name = any($5::text[])`,
    values: [collectionId, recordId, name, name === null ? null : `${name}${previewMark}`, [...kept]],
  });
}

/** Keeps what is known about a file whose bytes came after its name (files §3.10). Without an original the known one stays. */
export async function describeNamed(
  query: Query,
  [collectionId, recordId, name]: readonly [string, string, string],
  { original, size, type }: FileFacts,
): Promise<void> {
  await query({
    text: `insert into system.uploaded_files (collection_id, record_id, name, original, size, type)
values ($1, $2, $3, $4, $5, $6) on conflict (collection_id, record_id, name)
do update set original = coalesce(excluded.original, uploaded_files.original), size = excluded.size, type = excluded.type`,
    values: [collectionId, recordId, name, original, size, type],
  });
}
