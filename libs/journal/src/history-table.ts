import { type Collection, quoteIdentifier } from '@recordbus/schema';

/** The table that holds the history of a collection's records; named by its id, so it outlives renames. */
export const historyTableOf = ({ id }: Pick<Collection, 'id'>): string => `history.${quoteIdentifier(id)}`;

/**
 * Makes the table, unless history was on before and it is there. A table for each collection, so that one is dropped
 * with all its history at once. A record never has two versions of the same `at`; its actors may be gone.
 */
export const planHistoryTable = (collection: Collection): string =>
  `create table if not exists ${historyTableOf(collection)} (
  record_id text collate "C" not null,
  at bigint not null,
  id uuid not null default system.new_id(),
  op text not null check (op in ('create', 'update', 'delete')),
  snapshot json not null,
  actor_type text not null check (actor_type in ('user', 'admin', 'guest')),
  actor_id text,
  primary key (record_id, at)
)`;
