import type { Rule, RuleName } from '@recordbus/schema';
import type { CollectionChange } from './collection-draft.ts';

export const ruleNames: readonly RuleName[] = ['list', 'view', 'create', 'update', 'delete'];

export type Rules = Readonly<Record<RuleName, Rule>>;

/** Rules of a base or auth collection that names none: public (contract §8). */
export const publicRules: Rules = { list: null, view: null, create: null, update: null, delete: null };

/** Rules of a view that names none: for admins; of it, nothing but reading can be asked (interface §2.1). */
export const viewRules: Rules = { ...publicRules, list: '', view: '' };

/** Reads the rules that a draft names, the others stay as they were; `checkRules` says whether they can be used. */
export function readRules(draft: CollectionChange, before: Rules): Rules {
  const rules: Record<RuleName, Rule> = { ...before };
  for (const name of ruleNames) {
    const written = draft[`${name}_rule`];
    if (written === undefined) continue;
    rules[name] = written;
  }
  return rules;
}
