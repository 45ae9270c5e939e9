export type { Collection, CollectionType, Rule, RuleName } from './collection.ts';
export { type CollectionCache, createCollectionCache } from './collection-cache.ts';
export { loadCollections } from './collection-store.ts';
export type { Field } from './field.ts';
export { type FieldType, Refusal, type ValueReader } from './field-type.ts';
export { fieldTypeOf, fieldTypes } from './fields/index.ts';
export type { Cascade } from './fields/relation.ts';
export * from './naming.ts';
export { type ColumnValues, compileRecordReader, type RecordReader } from './record-reader.ts';
