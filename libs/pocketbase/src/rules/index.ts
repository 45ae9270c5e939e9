export {
  createDirectory,
  type Directory,
  type PocketBaseCollection,
  type PocketBaseField,
  type Renames,
  superusers,
} from './definitions.ts';
export { parsePocketBase } from './parse.ts';
export { lockedRows, type TableRow, tableCollections, translatedRows } from './table.ts';
export {
  type RuleSlot,
  type TranslatedRule,
  translateFilter,
  translateRule,
  UntranslatableFilter,
} from './translate.ts';
export { type Comparison, type Junction, type Operand, PocketBaseSyntaxError, type Tree } from './tree.ts';
