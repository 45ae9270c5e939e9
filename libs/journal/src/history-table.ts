import { type Collection, quoteIdentifier } from '@recordbus/schema';

/** A collection's history table. Its name is the collection's id, so renames do not affect it. */
export const historyTableOf = ({ id }: Pick<Collection, 'id'>): string => `history.${quoteIdentifier(id)}`;

/**
 * SQL that creates the history table, unless it exists from an earlier time with history. Each collection has its own,
 * so a collection is dropped with all its history. `at` and `_revision` are the version (version-sql.ts). Actors may no
 * longer exist.
 */
export const planHistoryTable = (collection: Collection): string =>
  `create table if not exists ${historyTableOf(collection)} (
  record_id text collate "C" not null,
  at bigint not null,
  _revision integer not null default 0,
  id uuid not null default system.new_id(),
  op text not null check (op in ('create', 'update', 'delete')),
  snapshot json not null,
  actor_type text not null check (actor_type in ('user', 'admin', 'guest', 'service')),
  actor_id text,
  primary key (record_id, at, _revision)
)`;
