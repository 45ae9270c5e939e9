import { hooksBudgetMs } from '../write/write-hooks.ts';
import { type CascadeSet, lockCascadeSet } from './cascade-set.ts';
import { clearHooked } from './clear-hooked.ts';
import { type Deletion, type HookedDeletion, watchUnit } from './deletion.ts';
import { runDeleteHooks } from './run-delete-hooks.ts';

/**
 * Finds and locks a record's cascade set and runs the hooks: first each record's delete hooks, before the search for
 * its referrers, then the update hooks of records whose relations are cleared, which are written here. Hooks' writes
 * may change the set, so it is followed again until nothing changes. A record's delete hooks run once.
 */
export async function followHooked(deletion: Deletion): Promise<CascadeSet> {
  const watched = watchUnit(deletion.unit);
  const deadlineMs = performance.now() + hooksBudgetMs;
  const hooked: HookedDeletion = { ...deletion, watched, deadlineMs, done: new Set() };
  const { unit, root, rules } = deletion;
  for (;;) {
    const { statements } = watched;
    const cascadeSet = await lockCascadeSet(unit.query, root, rules.findReferrers, (level, known) =>
      runDeleteHooks(hooked, level, known),
    );
    if (watched.statements > statements) continue;
    const cleared = await clearHooked(hooked, cascadeSet);
    if (cleared === 0) return cascadeSet;
  }
}
