import type { Collection, Field } from '@recordbus/schema';
import { warningsOfContentTypes } from './warn-of-content-types.ts';
import { warningsOfDeadFieldRules, warningsOfDeadRules } from './warn-of-dead-rules.ts';
import { warningsOfOpenRules } from './warn-of-open-rules.ts';
import { warningsOfRequiredRelations } from './warn-of-required-relations.ts';

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
