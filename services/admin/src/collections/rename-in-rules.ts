import { QueryError, renameInExpression } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import type { Renamed } from '../references/find-renamed.ts';
import { mapFieldRules, mapRules } from './placed-rules.ts';
import { originOf } from './rule-origin.ts';

/**
 * Returns a function that renames in a collection's rules. Names are resolved in `collections`, from before the change,
 * and all replaced at once, so fields may swap names.
 */
export function ruleRenamer(
  collection: Collection,
  renamed: Renamed,
  collections: readonly Collection[],
): (rule: string) => string {
  if (renamed.size === 0) return (rule) => rule;
  const origin = originOf(collection, collections);
  return (rule) => {
    try {
      return renameInExpression(rule, origin, renamed);
    } catch (error) {
      // The rule was stored before rules were validated. `checkRules` reports the problem.
      if (!(error instanceof QueryError)) throw error;
      return rule;
    }
  };
}

/** Returns a collection with the new names in all its rules; the same object when no rule changes. */
export function renameInRules(
  collection: Collection,
  renamed: Renamed,
  collections: readonly Collection[],
): Collection {
  if (renamed.size === 0) return collection;
  const rename = ruleRenamer(collection, renamed, collections);
  const after = {
    ...collection,
    rules: mapRules(collection.rules, rename),
    fields: mapFieldRules(collection.fields, rename),
  };
  const isSame =
    JSON.stringify(after.rules) === JSON.stringify(collection.rules) &&
    after.fields.every((field, index) => field === collection.fields[index]);
  return isSame ? collection : after;
}
