import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { type AppError, conflict } from '@recordbus/shared/errors';
import { isOpenTo } from '../rules/authorise.ts';
import { composeFindBlockers } from './delete-sql.ts';
import type { Doomed } from './doomed.ts';
import type { FindReferrers } from './referrers.ts';

/** Contract §2. */
const maxListed = 100;

/**
 * Throws 409 when a `restrict` relation of a record that stays points at one that goes. At most 100 such records are
 * listed; those that the caller may not view are counted and not named.
 */
export async function refuseBlocked(
  query: Query,
  doomed: Doomed,
  principal: Principal,
  findReferrers: FindReferrers,
): Promise<void> {
  const blockers: Blocker[] = [];
  let total = 0;
  for (const [target, ids] of doomed) {
    for (const referrer of findReferrers(target)) {
      if (referrer.cascade !== 'restrict') continue;
      const { collection, field } = referrer;
      const rows = await query<{ id: string; total: number }>({
        text: composeFindBlockers(referrer),
        values: [[...ids], [...(doomed.get(collection) ?? [])], maxListed],
      });
      total += rows[0]?.total ?? 0;
      blockers.push(...rows.map(({ id }) => ({ collection, id, field: field.name })));
    }
  }
  if (total > 0) throw blockedBy(blockers, total, principal, 'other records refer to this one');
}

/** A record that stays and refers to one that goes. */
export interface Blocker {
  readonly collection: Collection;
  readonly id: string;
  readonly field: string;
}

/** The 409 for a delete that these records, and so many in all, stand against. */
export function blockedBy(
  blockers: readonly Blocker[],
  total: number,
  principal: Principal,
  message: string,
): AppError {
  const named = blockers
    .filter(({ collection }) => isOpenTo(collection.rules.view, principal))
    .map(({ collection, id, field }) => ({ collection: collection.name, id, field }));
  return conflict('delete_restricted', message, { blockers: named.slice(0, maxListed), total });
}
