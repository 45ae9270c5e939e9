import type { Collection, Rule, RuleName } from '@recordbus/schema';
import type { CollectionChange } from './collection-draft.ts';

export const ruleNames: readonly RuleName[] = ['list', 'view', 'create', 'update', 'delete'];

export type Rules = Readonly<Record<RuleName, Rule>>;

/** Rules for a base collection that names none: public (collections §3.1). */
const publicRules: Rules = { list: null, view: null, create: null, update: null, delete: null };

const isOwnAccount = 'id = @request.auth.id';

/** The rules for a new collection that does not name them. */
export const defaultRules: Readonly<Record<Collection['type'], Rules>> = {
  base: publicRules,
  // Accounts are closed by default (collections §3.1). The setting `auth.sign_up.<collection>` governs sign-up.
  auth: { list: '', view: isOwnAccount, create: '', update: isOwnAccount, delete: isOwnAccount },
  // For admins only. A view has no writes, so its other rules stay null (views §1.2).
  view: { ...publicRules, list: '', view: '' },
};

/** Returns the rules with those that the draft names. `checkRules` validates them. */
export function readRules(draft: CollectionChange, before: Rules): Rules {
  const rules: Record<RuleName, Rule> = { ...before };
  for (const name of ruleNames) {
    const written = draft[`${name}_rule`];
    if (written === undefined) continue;
    rules[name] = written;
  }
  return rules;
}
