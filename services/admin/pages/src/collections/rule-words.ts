import type { RuleName } from './draft.ts';

/** What each rule decides. */
export const ruleTexts: Readonly<Record<RuleName, { readonly label: string; readonly about: string }>> = {
  list_rule: { label: 'List', about: 'who finds records in lists and live changes' },
  view_rule: { label: 'View', about: 'who reads one record' },
  create_rule: { label: 'Create', about: 'who adds records' },
  update_rule: { label: 'Update', about: 'who changes records' },
  delete_rule: { label: 'Delete', about: 'who deletes records' },
};

/** The words of the language beside the names of fields. */
export const ruleWords: readonly string[] = [
  '@request.auth.id',
  '@request.auth.type',
  '@request.auth.email',
  '@request.auth.collection',
  '@request.auth.verified',
  '@request.body.',
  '@now',
  '@todayStart',
  '@todayEnd',
  '@monthStart',
  'exists(',
  'count(',
  'not (',
  'true',
  'false',
  'null',
];
