import type { Problems, Rule, RuleName } from '@recordbus/schema';
import type { CollectionChange } from './collection-draft.ts';

const ruleNames: readonly RuleName[] = ['list', 'view', 'create', 'update', 'delete'];

type Rules = Readonly<Record<RuleName, Rule>>;

/** Rules of a base or auth collection that names none: public (contract §8). */
export const publicRules: Rules = { list: null, view: null, create: null, update: null, delete: null };

/** Reads the rules that a draft names, the others stay as they were. What is wrong is added to `problems`. */
export function readRules(draft: CollectionChange, before: Rules, problems: Problems): Rules {
  const rules: Record<RuleName, Rule> = { ...before };
  for (const name of ruleNames) {
    const written = draft[`${name}_rule`];
    if (written === undefined) continue;
    if (written)
      problems.add(`${name}_rule`, 'must be null (public) or "" (admins only); expressions are not supported yet');
    rules[name] = written;
  }
  return rules;
}
