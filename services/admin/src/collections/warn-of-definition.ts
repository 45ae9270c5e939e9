import { type Collection, type Field, fileOptionsOf } from '@recordbus/schema';
import { findUnmatched } from '@recordbus/schema/content-types';
import { warningsOfDeadFieldRules, warningsOfDeadRules } from './warn-of-dead-rules.ts';
import { warningsOfOpenRules } from './warn-of-open-rules.ts';

/** Returns the warnings about a definition that its author may not intend. They need no record to be read. */
export const warningsOfDefinition = (collection: Collection, collections: readonly Collection[]): string[] => [
  ...warningsOfOpenRules(collection, collections),
  ...warningsOfDeadRules(collection, collections),
  ...warningsOfFields(collection.fields, collection, collections),
];

/** The part that is about some fields alone. */
export const warningsOfFields = (
  fields: readonly Field[],
  collection: Collection,
  collections: readonly Collection[],
): string[] => [
  ...warningsOfDeadFieldRules(fields, collection, collections),
  ...warningsOfContentTypes(fields),
  ...warningsOfRequiredRelations(fields),
];

/** Returns a warning for each content type in a file field that no file has (fields §3.15). */
const warningsOfContentTypes = (fields: readonly Field[]): string[] =>
  fields
    .filter(({ type }) => type === 'file')
    .flatMap((field) =>
      findUnmatched(fileOptionsOf(field).mimeTypes).map(
        (type) => `The field ${field.name} lists ${type} in mimeTypes, but no file is recognised as this type.`,
      ),
    );

/** Returns a warning for each required relation that deleting its target leaves empty (fields §3.9). */
const warningsOfRequiredRelations = (fields: readonly Field[]): string[] =>
  fields
    .filter(({ type, required, options }) => type === 'relation' && required && options.cascade === 'setNull')
    .map(({ name, collection, options }) =>
      sentenceOf(name, collection ?? 'the other collection', options.multiple ? 'restrictLast' : 'restrict'),
    );

const sentenceOf = (name: string, target: string, refusing: 'restrict' | 'restrictLast'): string =>
  `The relation ${name} is required, but deleting a record in ${target} leaves it empty. Set its option cascade to "cascade", which deletes the referring records too, or to "${refusing}", which refuses the delete.`;
