import type { Collection } from '@recordbus/schema';
import { nextUpdatedAt, type Verb } from './event-sql.ts';
import { historyTableOf } from './history-table.ts';
import { snapshotOf } from './snapshot-sql.ts';

interface HistoryParts {
  readonly collection: Collection;
  readonly verb: Verb;
  /** The relation with the written rows, all their columns: as they are now, those of a delete as they last were. */
  readonly source: string;
  /** Name of the CTE, where a statement has several. */
  readonly name?: string;
}

/**
 * The CTE, with the comma before it, that adds a row for each written one to the history of a collection that keeps
 * one; nothing for others, whose statements stay as they are. It stands in the statement that writes, whose first four
 * values are `originValues`. The row's `at` is the version's `updated` (contract §2).
 */
export function withHistory({ collection, verb, source, name = 'history' }: HistoryParts): string {
  if (!collection.historyEnabled) return '';
  const at = verb === 'delete' ? nextUpdatedAt('n') : 'n.updated_at';
  return `, ${name} as (
  insert into ${historyTableOf(collection)} (record_id, at, op, snapshot, actor_type, actor_id)
  select n.id, ${at}, '${verb}', ${snapshotOf(collection, 'n')}, $1::text, $2::text from ${source} n
)`;
}
