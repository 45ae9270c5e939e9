import type { Collection } from '@recordbus/schema';
import type { Verb } from './event-sql.ts';
import { historyTableOf } from './history-table.ts';
import type { OriginParameters } from './origin.ts';
import { snapshotOf } from './snapshot-sql.ts';
import { nextRevision, nextUpdatedAt } from './version-sql.ts';

interface HistoryParts {
  readonly collection: Collection;
  readonly verb: Verb;
  /** The relation with the written rows and all their columns; for a delete, the rows before it. */
  readonly source: string;
}

/**
 * Inserts a history row for each written row; undefined for a collection without history. It is part of the statement
 * that writes. `at` is the version's `updated`; a delete has its own version (history §2.2).
 */
export function insertHistory(
  parameters: OriginParameters,
  { collection, verb, source }: HistoryParts,
): string | undefined {
  if (!collection.historyEnabled) return undefined;
  const isDelete = verb === 'delete';
  const at = isDelete ? nextUpdatedAt('n') : 'n.updated_at';
  const revision = isDelete ? nextRevision('n') : 'n._revision';
  const actor = `${parameters.named('actorType', 'text')}, ${parameters.named('actorId', 'text')}`;
  return `insert into ${historyTableOf(collection)} (record_id, at, _revision, op, snapshot, actor_type, actor_id)
  select n.id, ${at}, ${revision}, '${verb}', ${snapshotOf(collection, 'n')}, ${actor} from ${source} n`;
}
