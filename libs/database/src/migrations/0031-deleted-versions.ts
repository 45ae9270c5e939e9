/**
 * Creates the list of versions of records that were just deleted, so that a new record with the same id repeats no
 * version. A version of an earlier second needs no row. After a crash the table is empty, and a second has passed.
 */
export const statements: readonly string[] = [
  `create unlogged table system.deleted_versions (
    collection_id text collate "C" not null,
    record_id text collate "C" not null,
    updated_at bigint not null,
    revision integer not null,
    primary key (collection_id, record_id)
  )`,
];
