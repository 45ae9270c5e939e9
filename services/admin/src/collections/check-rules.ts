import { checkRule, QueryError } from '@recordbus/query';
import type { Collection, Problems } from '@recordbus/schema';
import { ruleNames } from './read-rules.ts';

/**
 * Adds to `problems` each rule that could not be evaluated with the collections as they would be: of the collection
 * that changes by the rule's name, of others by that of their collection as well.
 */
export function checkRules(changed: Collection, collections: readonly Collection[], problems: Problems): void {
  const findCollection = (name: string) => collections.find((collection) => collection.name === name);
  for (const collection of collections) {
    for (const name of ruleNames) {
      const rule = collection.rules[name];
      if (!rule) continue;
      try {
        checkRule(rule, { collection, schema: { findCollection } });
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        problems.add(`${collection === changed ? '' : `${collection.name}.`}${name}_rule`, error.message);
      }
    }
  }
}
