import { QueryError, renameInExpression } from '@recordbus/query';
import type { Collection, Field, RuleName } from '@recordbus/schema';
import { type Rules, ruleNames } from './read-rules.ts';

/**
 * The rules of a collection with the new names of fields, by the field as it was. All names are looked up in the
 * collections as they were and changed at once, so fields may swap theirs.
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

/** The fields of a collection that are called otherwise from now on; a field is known by its id. */
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
    // It was stored before anything checked it; checking says what is wrong with it.
    if (!(error instanceof QueryError)) throw error;
    return rule;
  }
}
