import type { Collection } from '../collection.ts';
import { fieldOfSearch, type SearchIndex } from './search-index.ts';

/** PostgreSQL's configurations, by language code. */
const byCode: Readonly<Record<string, string>> = {
  ar: 'arabic',
  hy: 'armenian',
  eu: 'basque',
  ca: 'catalan',
  da: 'danish',
  nl: 'dutch',
  en: 'english',
  fi: 'finnish',
  fr: 'french',
  de: 'german',
  el: 'greek',
  hi: 'hindi',
  hu: 'hungarian',
  id: 'indonesian',
  ga: 'irish',
  it: 'italian',
  lt: 'lithuanian',
  ne: 'nepali',
  nb: 'norwegian',
  nn: 'norwegian',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sr: 'serbian',
  es: 'spanish',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
  yi: 'yiddish',
  zh: 'cjk',
  ja: 'cjk',
  ko: 'cjk',
};

/** A search index's languages. `cjk` searches scripts without spaces letter by letter. */
export const searchLanguages: readonly string[] = [...new Set([...Object.values(byCode), 'simple'])].sort();

/** The language that a field's value names: `german`, `de`, `de-AT`; `simple` for every other text. */
function languageNamed(value: string): string {
  const text = value.toLowerCase();
  if (searchLanguages.includes(text)) return text;
  return byCode[/^[a-z]+/.exec(text)?.[0] ?? ''] ?? 'simple';
}

/** The values that a select field may have, each with its language. */
export const languagesByValue = ({ options: { values } }: { readonly options: Readonly<Record<string, unknown>> }) =>
  (Array.isArray(values) ? values : []).map((value) => ({
    value: String(value),
    language: languageNamed(String(value)),
  }));

/** The languages that a search index's records may have. */
export function languagesOf(collection: Collection, { search: { language } }: SearchIndex): readonly string[] {
  if (typeof language === 'string') return [language];
  const named = languagesByValue(fieldOfSearch(collection, language.field)).map((one) => one.language);
  return [...new Set([...named, 'simple'])].sort();
}
