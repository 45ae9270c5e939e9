export { accountColumns } from './account-columns.ts';
export {
  type Collection,
  type CollectionIndex,
  type CollectionRules,
  type Durability,
  durabilities,
  type HistoryLimits,
  type Retention,
  type Rule,
  type RuleName,
  type TimeColumn,
} from './collection.ts';
export { type CollectionCache, createCollectionCache } from './collection-cache.ts';
export { followCollections, loadCollection, loadCollections } from './collection-store.ts';
export * from './definitions/index.ts';
export { accountAddress, syntheticAddress } from './email-address.ts';
export { decryptStored, decryptValue, encryptedFieldsOf, encryptStored, isEncrypted } from './encrypted-values.ts';
export { explainRefusal } from './explain-refusal.ts';
export type { Field } from './field.ts';
export { allowsNoAddress, findFixedDefault, hasDefault, hasRandomDefault, withDefaults } from './field-default.ts';
export { createFieldEncryption, type FieldEncryption } from './field-encryption.ts';
export { withExample } from './field-example.ts';
export { type FieldType, type FormText, type ValueKind, ValueRefusal } from './field-type.ts';
export { isSetBy } from './fields/autodate.ts';
export {
  type FileOptions,
  fileOptionsOf,
  maxThumbSidePixels,
  needsToken,
  thumbSize,
} from './fields/file.ts';
export { boolText, jsonText, plainText, secondsText } from './fields/form-text.ts';
export { fieldTypeOf, fieldTypes, isWriteOnly, mayGrow } from './fields/index.ts';
export { listMaxOf } from './fields/list-max.ts';
export type { ListOperand } from './fields/list-operators.ts';
export { type Cascade, holdsRelations } from './fields/relation.ts';
export { findIdentityProblem, identityFieldsOf } from './identity-fields.ts';
export { columnsOfIndex, hasTimeColumn } from './indexes.ts';
export { canonicalAddress, lookupForms } from './mailbox.ts';
export * from './naming.ts';
export { isNeverNull } from './never-null.ts';
export { perCollection } from './per-collection.ts';
export { type RecordColumn, recordColumns, selectList } from './record-columns.ts';
export { anyForm, recordFormSchema } from './record-forms.ts';
export { type ColumnValues, compileRecordReader, type RecordReader } from './record-reader.ts';
export { newRecordSchema, recordChangeSchema, recordSchema, requiredOf, valueSchemaOf } from './record-schemas.ts';
export { shapeOf } from './record-shape.ts';
export * from './search/index.ts';
export {
  comparedBy,
  comparedValue,
  findUniqueFields,
  hasComparableValue,
  isComparedAlike,
  isText,
  isUnique,
} from './unique-sql.ts';
export {
  isOperatorObject,
  type OperatorSql,
  resultRefusals,
  ValueOperation,
  type ValueOperators,
} from './value-operators.ts';
