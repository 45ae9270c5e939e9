export {
  findCollectionNameProblem,
  isCollectionName,
  isReservedCollectionName,
  mayBeCollectionName,
  reservedCollectionNames,
} from './collection-name.ts';
export { exampleDefinitions } from './example-definitions.ts';
export type { DefinitionContext } from './field-definition.ts';
export { parseFieldList, readFieldDefinitions } from './field-definitions.ts';
export { newFieldId } from './field-id.ts';
export { findFieldNameProblem } from './field-name.ts';
export {
  collectionJson,
  definitionOf,
  fieldJson,
  presentCollection,
  presentField,
  writtenField,
} from './present-collection.ts';
export { createProblems, type Problems } from './problems.ts';
export { findRetainedBy, historyKeepJson, presentRetain, retainedColumn, retainJson } from './retention.ts';
