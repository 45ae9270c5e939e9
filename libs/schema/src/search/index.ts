export {
  fieldOfSearch,
  findSearchIndex,
  isSearchIndex,
  nameOfSearched,
  type SearchDefinition,
  type SearchedField,
  type SearchIndex,
  type SearchWeight,
  searchWeights,
} from './search-index.ts';
export { languagesByValue, languagesOf, searchLanguages } from './search-languages.ts';
export {
  documentSql,
  hasOwnLanguages,
  knownWordsTableOf,
  languageSql,
  newWordsTableOf,
  searchedColumns,
  searchedText,
  searchTableOf,
  wordsIndexOf,
} from './search-sql.ts';
