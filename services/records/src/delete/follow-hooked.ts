import type { Query } from '@recordbus/database';
import { hooksBudgetMs } from '../write/write-hooks.ts';
import { clearHooked } from './clear-hooked.ts';
import type { Deletion } from './deletion.ts';
import { type Doomed, lockDoomed } from './doomed.ts';
import { runDeleteHooks } from './run-delete-hooks.ts';

/** A delete whose hooks run. */
export interface HookedDeletion extends Deletion {
  /** For the hooks. What was read before they asked for something may not be so any more. */
  readonly watched: WatchedQuery;
  /** When all of them have to be done, by `performance.now`. */
  readonly deadlineMs: number;
  /** The records whose hooks have run, and the fields that were cleared. */
  readonly done: Set<string>;
}

interface WatchedQuery {
  readonly query: Query;
  /** How many statements it was asked for. */
  readonly asked: number;
}

/**
 * Finds and locks all that goes with a record, and runs the hooks: of each record before what goes with it is looked
 * for, then of those whose relations are cleared, which are written here. What hooks write may let others go or stay, so
 * it is all followed again until nothing is new; the hooks of a record that goes run once.
 */
export async function followHooked(deletion: Deletion): Promise<Doomed> {
  const watched = watch(deletion.query);
  const deadlineMs = performance.now() + hooksBudgetMs;
  const hooked: HookedDeletion = { ...deletion, watched, deadlineMs, done: new Set() };
  const { query, root, rules } = deletion;
  for (;;) {
    const { asked } = watched;
    const doomed = await lockDoomed(query, root, rules.findReferrers, (level, known) =>
      runDeleteHooks(hooked, level, known),
    );
    if (watched.asked > asked) continue;
    const cleared = await clearHooked(hooked, doomed);
    if (cleared === 0) return doomed;
  }
}

function watch(query: Query): WatchedQuery {
  let asked = 0;
  return {
    query(statement) {
      asked += 1;
      return query(statement);
    },
    get asked() {
      return asked;
    },
  };
}
