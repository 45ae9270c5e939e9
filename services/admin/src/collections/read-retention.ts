import { type Collection, findRetainedBy, type Problems, type Retention, retainedColumn } from '@recordbus/schema';
import type { CollectionChange } from './collection-draft.ts';

/**
 * Reads how long a definition keeps records and versions (privacy §3.1, history §7). A member that is left out stays as it was,
 * and null removes it. Adds problems at `retain` and `history_keep`.
 */
export function readRetention(
  { retain, history_keep: historyKeep }: Pick<CollectionChange, 'retain' | 'history_keep'>,
  before: Pick<Collection, 'retain' | 'historyKeep'> | undefined,
  collection: Pick<Collection, 'type' | 'fields'>,
  problems: Pick<Problems, 'add'>,
): Pick<Collection, 'retain' | 'historyKeep'> {
  const kept = historyKeep === undefined ? before?.historyKeep : (historyKeep ?? undefined);
  if (kept && collection.type === 'view') problems.add('history_keep', 'is not for view collections');
  return { ...readRetain(retain, before?.retain, collection, problems), ...(kept && { historyKeep: kept }) };
}

function readRetain(
  given: CollectionChange['retain'],
  before: Retention | undefined,
  collection: Pick<Collection, 'type' | 'fields'>,
  problems: Pick<Problems, 'add'>,
): Pick<Collection, 'retain'> {
  const retain = given === undefined ? before : given && { ...given, field: findRetainedBy(collection, given.field) };
  if (!retain) return {};
  if (collection.type === 'view') problems.add('retain', 'is not for view collections');
  // An account needs its address.
  else if (collection.type === 'auth' && retain.action === 'redact')
    problems.add('retain.action', 'must be delete for auth collections');
  const { field, days, action } = retain;
  if (field === undefined) problems.add('retain.field', 'must be a date or autodate field, created or updated');
  else if (!retainedColumn(collection, { field, days, action }))
    problems.add('retain.field', 'would be dropped or no longer a date: change retain too');
  return field === undefined ? {} : { retain: { days, field, action } };
}
