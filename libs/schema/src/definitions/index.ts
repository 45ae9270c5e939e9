export { findCollectionNameProblem } from './collection-name.ts';
export { type DefinitionContext, readFieldDefinitions } from './field-definitions.ts';
export { newFieldId } from './field-id.ts';
export { findFieldNameProblem } from './field-name.ts';
export { collectionJson, presentCollection } from './present-collection.ts';
export { createProblems, type Problems } from './problems.ts';
