/**
 * Adds to the outbox by how many records each write changed its collection, and in which transaction, so that an exact
 * total of one snapshot can be updated for another without counting. Every insert or delete of records has to fill in
 * both columns.
 */
export const statements: readonly string[] = [
  `alter table system.outbox
    add column collection_id text collate "C",
    add column records_added smallint not null default 0,
    add column transaction_id xid8 not null default pg_current_xact_id()`,
  'create index outbox_totals on system.outbox (collection_id, transaction_id) where records_added <> 0',
];
