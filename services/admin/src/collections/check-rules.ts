import { checkRule, QueryError } from '@recordbus/query';
import { type Collection, fileOptionsOf, type Problems, type Rule } from '@recordbus/schema';
import { ruleNames } from './read-rules.ts';

/**
 * Adds to `problems` each rule that could not be evaluated with the collections as they would be: of the collection
 * that changes by the rule's name, of others by that of their collection as well.
 */
export function checkRules(changed: Collection, collections: readonly Collection[], problems: Problems): void {
  const findCollection = (name: string) => collections.find((collection) => collection.name === name);
  for (const collection of collections) {
    for (const [place, rule] of rulesOf(collection)) {
      if (!rule) continue;
      try {
        checkRule(rule, { collection, schema: { findCollection } });
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        problems.add(`${collection === changed ? '' : `${collection.name}.`}${place}`, error.message);
      }
    }
  }
}

/** Every rule of a collection by its place in the definition: its own, and those of its file fields. */
const rulesOf = ({ rules, fields }: Collection): (readonly [place: string, rule: Rule])[] => [
  ...ruleNames.map((name) => [`${name}_rule`, rules[name]] as const),
  ...fields
    .filter(({ type }) => type === 'file')
    .map((field) => [`fields.${field.name}.options.viewRule`, fileOptionsOf(field).viewRule] as const),
];
