export { mailsFactors, waysIn } from './accounts.ts';
export {
  readCollection,
  type StoredCollection,
  type StoredField,
  type StoredOptions,
  type StoredProvider,
  UnreadableCollection,
} from './definition.ts';
export { type FieldDefinition, severalOf } from './fields.ts';
export { isOwnMember, type NameChecks, renamesOf } from './names.ts';
export type { Note } from './note.ts';
export { type ProviderHere, translateProvider } from './providers.ts';
export {
  type CollectionContext,
  type CollectionDefinition,
  type TranslatedCollection,
  translateCollection,
} from './translate-collection.ts';
export { translateView } from './translate-view.ts';
