import type { Database, Query } from '@recordbus/database';
import { originValues } from '@recordbus/journal';
import { createParameters } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { isRecordId } from '../record/record-id.ts';
import { type Asking, compileRule, isAsked } from '../rules/compile-rule.ts';
import { perCollection, prepare } from '../sql/prepared.ts';
import type { Unwritten } from '../write/written-record.ts';
import { refuseBlocked } from './blockers.ts';
import { composeDeleteMany, composeDeleteOne, composeLock, composeSetNull } from './delete-sql.ts';
import { type Doomed, lockDoomed } from './doomed.ts';
import type { FindReferrers } from './referrers.ts';

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

const ruledLock = perCollection((collection, schema: Asking['schema']) => {
  const parameters = createParameters(2);
  const rule = compileRule(collection, 'delete', schema, { row: 'old', stored: 'old', parameters });
  return { text: composeLock(collection, rule), parameters };
});

/**
 * Deletes a record with its event: in one statement when no relation points at its collection, else in a transaction
 * with everything that the relations' cascades ask for. All of it commits or none. Throws 409 naming what blocks it.
 */
export async function deleteRecord(
  database: Pick<Database, 'query' | 'transaction'>,
  collection: Collection,
  removal: Removal,
  context: RequestContext,
  asking: Asking,
  findReferrers: FindReferrers,
): Promise<Removed> {
  if (!isRecordId(removal.id)) return { outcome: 'missing' };
  if (findReferrers(collection).length === 0) return deleteAlone(database.query, collection, removal, context, asking);
  return database.transaction((query) =>
    deleteWithReferring(query, collection, removal, context, asking, findReferrers),
  );
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

async function deleteWithReferring(
  query: Query,
  collection: Collection,
  { id, versions }: Removal,
  context: RequestContext,
  asking: Asking,
  findReferrers: FindReferrers,
): Promise<Removed> {
  const { text, parameters } = isAsked(collection, 'delete', asking.principal)
    ? ruledLock(collection, asking.schema)
    : { text: composeLock(collection), parameters: undefined };
  const values = [id, ...(parameters?.values(asking.request) ?? [])];
  const [row] = await query<{ updatedAtSec: number; isAllowed?: boolean }>({ text, values });
  if (!row) return { outcome: 'missing' };
  if (row.isAllowed === false) return { outcome: 'refused' };
  const { updatedAtSec } = row;
  if (versions && !versions.includes(updatedAtSec)) return { outcome: 'mismatch', updatedAtSec };
  const doomed = await lockDoomed(query, { collection, id }, findReferrers);
  await refuseBlocked(query, doomed, context.principal, findReferrers);
  await clearReferences(query, doomed, context, findReferrers);
  await query({
    text: composeDeleteMany([...doomed.keys()]),
    values: [...originValues(context), ...[...doomed.values()].map((ids) => [...ids])],
  });
  return { outcome: 'deleted' };
}

/** Clears the `setNull` relations of the records that stay and point at one that goes. */
async function clearReferences(
  query: Query,
  doomed: Doomed,
  context: RequestContext,
  findReferrers: FindReferrers,
): Promise<void> {
  const clearings = new Map<Collection, { field: string; ids: string[] }[]>();
  for (const [target, ids] of doomed) {
    for (const { collection, field, cascade } of findReferrers(target)) {
      if (cascade !== 'setNull') continue;
      const clearing = { field: field.name, ids: [...ids] };
      clearings.set(collection, [...(clearings.get(collection) ?? []), clearing]);
    }
  }
  for (const [collection, fields] of clearings) {
    const going = [...(doomed.get(collection) ?? [])];
    await query({
      text: composeSetNull(
        collection,
        fields.map(({ field }) => field),
      ),
      values: [...originValues(context), going, ...fields.map(({ ids }) => ids)],
    });
  }
}
