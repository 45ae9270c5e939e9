/**
 * Adds an index on the files to remove. Each removal of a record and each upload to an existing id looks for the files
 * of the record, even while a cascade has left a million of them.
 */
export const statements: readonly string[] = [
  'create index file_removals_record on system.file_removals (collection_id, record_id)',
];
