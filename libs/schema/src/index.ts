export { accountColumns } from './account-columns.ts';
export type { Collection, CollectionIndex, CollectionType, Rule, RuleName, TimeColumn } from './collection.ts';
export { type CollectionCache, createCollectionCache } from './collection-cache.ts';
export { loadCollections } from './collection-store.ts';
export * from './definitions/index.ts';
export { emailAddress } from './email-address.ts';
export {
  encryptedFieldsOf,
  isEncrypted,
  isStoredSealed,
  openStored,
  openValue,
  sealStored,
} from './encrypted-values.ts';
export { explainRefusal } from './explain-refusal.ts';
export type { Field } from './field.ts';
export { createFieldSealing, type FieldSealing } from './field-sealing.ts';
export { type FieldType, type Narrowing, Refusal, type ValueReader } from './field-type.ts';
export { isSetBy } from './fields/autodate.ts';
export { type FileOptions, fileOptionsOf, matchesMimeTypes, needsToken } from './fields/file.ts';
export { fieldTypeOf, fieldTypes } from './fields/index.ts';
export type { Cascade } from './fields/relation.ts';
export { columnsOfIndex, hasTimeColumn } from './indexes.ts';
export * from './naming.ts';
export { PlainSecret } from './plain-secret.ts';
export { type RecordColumn, recordColumns, selectList } from './record-columns.ts';
export { type ColumnValues, compileRecordReader, type RecordReader } from './record-reader.ts';
export { newRecordSchema, recordChangeSchema, recordSchema, valueSchemaOf } from './record-schemas.ts';
