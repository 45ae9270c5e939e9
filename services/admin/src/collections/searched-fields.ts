import { type Collection, type CollectionIndex, isText, type Problems } from '@recordbus/schema';
import { compareFields, type FieldPair } from '../ddl/compare-fields.ts';

/** Adds to `problems` each field whose index cannot serve it after the change. */
export function refuseSearchedFields(before: Collection, after: Collection, problems: Problems): void {
  for (const pair of compareFields(before, after).kept) {
    const indexes = (after.indexes ?? []).filter(({ columns }) => columns.includes(pair.now.id));
    refuseLists(pair, indexes, problems);
    refuseViewRules(pair, indexes, problems);
  }
}

/** A `trigram` index searches a text, and a search index reads one language for each record. */
function refuseLists({ old, now }: FieldPair, indexes: readonly CollectionIndex[], problems: Problems): void {
  if (!isText(old) || isText(now)) return;
  for (const { name, type, search } of indexes) {
    if (type !== 'trigram' && !hasLanguageOf(search, now.id)) continue;
    const what = type === 'trigram' ? `in the trigram index ${name}` : `with the language of the search index ${name}`;
    problems.add(`fields.${now.name}.options.multiple`, `is not allowed for a field ${what}`);
  }
}

const hasLanguageOf = (search: CollectionIndex['search'], id: string): boolean =>
  typeof search?.language === 'object' && search.language.field === id;

/** Who finds a record by a word in a field has seen the word. */
function refuseViewRules({ now }: FieldPair, indexes: readonly CollectionIndex[], problems: Problems): void {
  if (now.viewRule == null) return;
  for (const { name, type } of indexes)
    if (type === 'search')
      problems.add(`fields.${now.name}.view_rule`, `is not allowed for a field in the search index ${name}`);
}
