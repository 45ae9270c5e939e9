import type { RuleName } from './draft.ts';

/** Each rule's name and what it controls. */
export const ruleTexts: Readonly<Record<RuleName, { readonly label: string; readonly about: string }>> = {
  list_rule: { label: 'List', about: 'Who can see records in lists and live changes' },
  view_rule: { label: 'View', about: 'Who can read a single record' },
  create_rule: { label: 'Create', about: 'Who can create records' },
  update_rule: { label: 'Update', about: 'Who can change records' },
  delete_rule: { label: 'Delete', about: 'Who can delete records' },
};

/** Says who a rule admits: `null` and `""` in words. */
export const ruleWords = (rule: unknown): string =>
  rule === null ? 'Everyone, guests too' : rule === '' ? 'Admins only' : String(rule);

/** Completions for the rule language, in addition to field names. */
export const ruleCompletions: readonly string[] = [
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
