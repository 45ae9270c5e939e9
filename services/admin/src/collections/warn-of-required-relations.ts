import type { Field } from '@recordbus/schema';

/** Returns a warning for each required relation that deleting its target leaves empty (fields §3.9). */
export const warningsOfRequiredRelations = (fields: readonly Field[]): string[] =>
  fields
    .filter(({ type, required, options }) => type === 'relation' && required && options.cascade === 'setNull')
    .map(({ name, collection }) => sentenceOf(name, collection ?? 'the other collection'));

const sentenceOf = (name: string, target: string): string =>
  `The relation ${name} is required, but deleting a record in ${target} leaves it empty. Set its option cascade to "cascade", which deletes the referring records too, or to "restrict", which refuses the delete.`;
