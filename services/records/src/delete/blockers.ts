import type { Query } from '@recordbus/database';
import { type AppError, conflict } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import { isOpenTo } from '../rules/authorize.ts';
import { collectionFor } from '../rules/key-collections.ts';
import type { CascadeSet } from './cascade-set.ts';
import { composeFindBlockers, composeLockReferring } from './delete-sql.ts';
import type { FindReferrers } from './referrers.ts';

/** How many blockers a refusal lists at most (records §7.5). */
const maxListed = 100;

/**
 * Throws 409 when a record outside the cascade set refers to one in it by a `restrict` relation, or when its list with
 * `restrictLast` would be empty without the set. The refusal lists at most 100 such records. Those that the caller may
 * not view are counted and not listed.
 */
export async function refuseBlocked(
  query: Query,
  cascadeSet: CascadeSet,
  principal: Principal,
  findReferrers: FindReferrers,
): Promise<void> {
  const blockers: Blocker[] = [];
  let total = 0;
  for (const [target, ids] of cascadeSet) {
    for (const referrer of findReferrers(target)) {
      const { collection, field, cascade } = referrer;
      if (cascade !== 'restrict' && cascade !== 'restrictLast') continue;
      // Locked, so that one entry stays when two deletes each remove another one.
      if (cascade === 'restrictLast') await query({ text: composeLockReferring(referrer), values: [[...ids]] });
      const rows = await query<{ id: string; total: number }>({
        text: composeFindBlockers(referrer),
        values: [[...ids], [...(cascadeSet.get(collection) ?? [])], maxListed],
      });
      total += rows[0]?.total ?? 0;
      blockers.push(...rows.map(({ id }) => ({ collection, id, field: field.name })));
    }
  }
  if (total > 0) throw blockedBy(blockers, total, principal, 'other records refer to this one');
}

/** A record outside the cascade set that refers to one in it. */
export interface Blocker {
  readonly collection: Collection;
  readonly id: string;
  readonly field: string;
}

/** The 409 for a delete with these blockers, `total` in all. */
export function blockedBy(
  blockers: readonly Blocker[],
  total: number,
  principal: Principal,
  message: string,
): AppError {
  const named = blockers
    .filter(({ collection, field }) => {
      const { rules, fields } = collectionFor(principal, collection);
      const relation = fields.find(({ name }) => name === field);
      return isOpenTo(rules.view, principal) && isOpenTo(relation?.viewRule ?? null, principal);
    })
    .map(({ collection, id, field }) => ({ collection: collection.name, id, field }));
  return conflict('delete_restricted', message, { blockers: named.slice(0, maxListed), total });
}
