import { checkRule, QueryError } from '@recordbus/query';
import type { Collection, Problems } from '@recordbus/schema';
import { rulesOf } from './placed-rules.ts';
import { originOf } from './rule-origin.ts';

/**
 * Adds to `problems` each rule that cannot be evaluated with the planned collections. A rule of the changed collection is
 * named by itself, a rule of another collection as `<collection>.<rule>`.
 */
export function checkRules(changed: Collection, collections: readonly Collection[], problems: Problems): void {
  for (const collection of collections) {
    for (const { place, rule } of rulesOf(collection)) {
      if (!rule) continue;
      try {
        checkRule(rule, originOf(collection, collections));
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        problems.add(`${collection === changed ? '' : `${collection.name}.`}${place}`, error.message);
      }
    }
  }
}
