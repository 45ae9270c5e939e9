import type { Query } from '@recordbus/database';
import { originValues } from '@recordbus/journal';
import { createParameters } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { isRecordId } from '../record/record-id.ts';
import { type Asking, compileRule, isAsked } from '../rules/compile-rule.ts';
import { perCollection, prepare } from '../sql/prepared.ts';
import type { WritableDatabase } from '../write/hooked-transactions.ts';
import { lockRecord } from '../write/lock-record.ts';
import type { Unwritten } from '../write/written-record.ts';
import { refuseBlocked } from './blockers.ts';
import { clearReferences } from './clear-references.ts';
import { composeDeleteMany, composeDeleteOne } from './delete-sql.ts';
import type { DeleteRules } from './deletion.ts';
import { lockDoomed } from './doomed.ts';
import { followHooked } from './follow-hooked.ts';
import { isDeleteHooked } from './reach.ts';

/** A record to delete. */
export interface Removal {
  readonly id: string;
  /** The versions (`updated_at` in unix seconds) that may be deleted; any when undefined. */
  readonly versions: readonly number[] | undefined;
}

export type Removed = { readonly outcome: 'deleted' } | Unwritten;

const compiled = perCollection((collection) => prepare('delete', composeDeleteOne(collection)));

const ruled = perCollection((collection, schema: Asking['schema']) => {
  const parameters = createParameters(7);
  const rule = compileRule(collection, 'delete', schema, { row: 'old', stored: 'old', parameters });
  return { ...prepare('delete', composeDeleteOne(collection, rule)), parameters };
});

/**
 * Deletes a record with its event: in one statement when no relation points at its collection and no hooks stand before
 * it, else in a transaction with everything that the relations' cascades ask for, and the hooks of it all. All of it
 * commits or none. Throws 409 naming what blocks it.
 */
export async function deleteRecord(
  database: WritableDatabase,
  collection: Collection,
  removal: Removal,
  context: RequestContext,
  asking: Asking,
  rules: DeleteRules,
): Promise<Removed> {
  if (!isRecordId(removal.id)) return { outcome: 'missing' };
  const isHooked = isDeleteHooked(collection, rules);
  if (!isHooked && rules.findReferrers(collection).length === 0)
    return deleteAlone(database.query, collection, removal, context, asking);
  const transaction = isHooked ? database.hookedTransaction : database.transaction;
  return transaction(async (query) => {
    const locked = await lockRecord(query, collection, 'delete', removal, asking);
    if (locked.outcome !== 'locked') return locked;
    const root = { collection, id: removal.id };
    const deletion = { query, root, context, asking, rules };
    const doomed = await (isHooked ? followHooked(deletion) : lockDoomed(query, root, rules.findReferrers));
    await refuseBlocked(query, doomed, context.principal, rules.findReferrers);
    await clearReferences(deletion, doomed);
    await query({
      text: composeDeleteMany([...doomed.keys()]),
      values: [...originValues(context), ...[...doomed.values()].map((ids) => [...ids])],
    });
    return { outcome: 'deleted' };
  });
}

async function deleteAlone(
  query: Query,
  collection: Collection,
  { id, versions }: Removal,
  context: RequestContext,
  asking: Asking,
): Promise<Removed> {
  const { parameters, ...statement } = isAsked(collection, 'delete', asking.principal)
    ? ruled(collection, asking.schema)
    : { ...compiled(collection), parameters: undefined };
  const [row] = await query<{ updatedAtSec: number; deleted: boolean; isAllowed?: boolean }>({
    ...statement,
    values: [...originValues(context), id, versions ?? null, ...(parameters?.values(asking.request) ?? [])],
  });
  if (!row) return { outcome: 'missing' };
  if (row.isAllowed === false) return { outcome: 'refused' };
  return row.deleted ? { outcome: 'deleted' } : { outcome: 'mismatch', updatedAtSec: row.updatedAtSec };
}
