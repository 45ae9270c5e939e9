import type { Query } from '@recordbus/database';
import type { Principal } from '@recordbus/shared/context';
import { conflict } from '@recordbus/shared/errors';
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
  const blockers: { collection: string; id: string; field: string }[] = [];
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
      if (!isOpenTo(collection.rules.view, principal)) continue;
      blockers.push(...rows.map(({ id }) => ({ collection: collection.name, id, field: field.name })));
    }
  }
  if (total === 0) return;
  const details = { blockers: blockers.slice(0, maxListed), total };
  throw conflict('delete_restricted', 'other records refer to this one', details);
}
