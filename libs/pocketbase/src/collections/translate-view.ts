import { type Directory, translateRule } from '../rules/index.ts';
import { rewriteView } from '../views/rewrite-view.ts';
import type { StoredCollection } from './definition.ts';
import type { TranslatedCollection } from './translate-collection.ts';

/** Translates a view, or says why it cannot be. The product still has to try the query. */
export function translateView(
  from: StoredCollection,
  directory: Directory,
): TranslatedCollection | { readonly why: string } {
  const view = rewriteView(from.options.viewQuery ?? '', directory);
  if (view.query === null) return { why: view.why };
  const rules = [
    translateRule(from.rules.list, 'list', from, directory),
    translateRule(from.rules.view, 'view', from, directory),
  ] as const;
  const [list, one] = rules;
  return {
    from,
    to: {
      name: directory.nameOf(from),
      type: 'view',
      list_rule: list.to,
      view_rule: one.to,
      create_rule: null,
      update_rule: null,
      delete_rule: null,
      view_query: view.query,
      fields: [],
      indexes: [],
    },
    rules,
    notes: [],
  };
}
