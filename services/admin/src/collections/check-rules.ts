import { checkRule, QueryError } from '@recordbus/query';
import { type Collection, fileOptionsOf, type Problems, type Rule } from '@recordbus/schema';
import { ruleNames } from './read-rules.ts';

/**
 * Adds to `problems` each rule that cannot be evaluated with the planned collections. A rule of the changed collection is
 * named by itself, a rule of another collection as `<collection>.<rule>`.
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

/** Returns every rule of a collection, those of its file fields included, with its place in the definition. */
const rulesOf = ({ rules, fields }: Collection): (readonly [place: string, rule: Rule])[] => [
  ...ruleNames.map((name) => [`${name}_rule`, rules[name]] as const),
  ...fields
    .filter(({ type }) => type === 'file')
    .map((field) => [`fields.${field.name}.options.viewRule`, fileOptionsOf(field).viewRule] as const),
];
