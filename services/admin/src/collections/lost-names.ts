import { startSlice } from '@recordbus/limits/time-slice';
import { findReferences, QueryError, type Reference } from '@recordbus/query';
import type { Collection, Problems } from '@recordbus/schema';
import type { Renamed } from '../references/find-renamed.ts';
import { keyOf, refusalOf } from '../references/lost-reference.ts';
import { rulesOf } from './placed-rules.ts';
import { ruleRenamer } from './rename-in-rules.ts';
import { originOf } from './rule-origin.ts';

/** What rules can see in a change to the collections. */
interface NamesChange {
  readonly before: readonly Collection[];
  readonly after: readonly Collection[];
  readonly renamed: Renamed;
  /** The collection that is changed, or dropped. */
  readonly changed: Collection;
}

/**
 * Adds to `problems` each rule that names something dropped, or a name that now means something else. `checkRules`
 * misses these rules if the name exists in another auth collection. Rules that the change itself replaces do not count.
 * Runs in time slices.
 */
export async function refuseLostNames(
  { before, after, renamed, changed }: NamesChange,
  problems: Problems,
): Promise<void> {
  const slice = startSlice();
  for (const collection of after) {
    if (slice.isOver()) await slice.pause();
    const former = before.find(({ id }) => id === collection.id);
    if (!former) continue;
    const rename = ruleRenamer(former, renamed, before);
    const formerRules = new Map(rulesOf(former).map(({ key, rule }) => [key, rule]));
    for (const { place, key, rule } of rulesOf(collection)) {
      const formerRule = formerRules.get(key);
      if (!formerRule || rename(formerRule) !== rule) continue;
      const now = new Set(namesIn(rule, collection, after).map(keyOf));
      const lost = namesIn(formerRule, former, before).find((name) => !now.has(keyOf(name)));
      if (lost) problems.add(`${collection.id === changed.id ? '' : `${collection.name}.`}${place}`, refusalOf(lost));
    }
  }
}

function namesIn(rule: string, collection: Collection, collections: readonly Collection[]): Reference[] {
  try {
    // Any collection's records may own webhooks, so a name behind @owner is lost only when none has it: `checkRules` sees that.
    return findReferences(rule, { ...originOf(collection, collections), owners: [] });
  } catch (error) {
    if (error instanceof QueryError) return [];
    throw error;
  }
}
