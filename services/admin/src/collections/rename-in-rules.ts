import { QueryError, renameInExpression } from '@recordbus/query';
import type { Collection, Field, RuleName } from '@recordbus/schema';
import { type Rules, ruleNames } from './read-rules.ts';

/**
 * Returns the rules of a collection with the new names of fields. `renamed` maps fields as they were to new names. Names
 * are resolved in `collections`, as they were before the change, and replaced at once, so fields may swap names.
 */
export function renameInRules(
  collection: Collection,
  renamed: ReadonlyMap<Field, string>,
  collections: readonly Collection[],
): Rules {
  const rules: Record<RuleName, string | null> = { ...collection.rules };
  for (const name of ruleNames) {
    const rule = rules[name];
    if (rule && renamed.size > 0) rules[name] = renameIn(rule, collection, renamed, collections);
  }
  return rules;
}

/** Returns the renamed fields of a collection with their new names. The id identifies a field. */
export const findRenamed = (before: Collection, fields: readonly Field[]): ReadonlyMap<Field, string> =>
  new Map(
    before.fields.flatMap((field): [Field, string][] => {
      const name = fields.find(({ id }) => id === field.id)?.name;
      return name === undefined || name === field.name ? [] : [[field, name]];
    }),
  );

function renameIn(
  rule: string,
  collection: Collection,
  renamed: ReadonlyMap<Field, string>,
  collections: readonly Collection[],
): string {
  const findCollection = (name: string) => collections.find((other) => other.name === name);
  try {
    return renameInExpression(rule, { collection, schema: { findCollection } }, renamed);
  } catch (error) {
    // The rule was stored before rules were validated; `checkRules` reports what is wrong with it.
    if (!(error instanceof QueryError)) throw error;
    return rule;
  }
}
