import type { Collection, CollectionRules, Problems, RuleName } from '@recordbus/schema';
import type { CollectionChange } from './collection-draft.ts';

/** The actions with a rule. */
export const actions: readonly RuleName[] = ['list', 'view', 'create', 'update', 'delete'];

/** All rules of a collection. */
export const ruleNames = [...actions, 'sign_in', 'webhook'] as const;

/** Rules for a base collection that names none: public (collections §3.1). */
const publicRules: CollectionRules = { list: null, view: null, create: null, update: null, delete: null };

const isOwnAccount = 'id = @request.auth.id';

/** The rules for a new collection that does not name them. */
export const defaultRules: Readonly<Record<Collection['type'], CollectionRules>> = {
  base: publicRules,
  // Accounts are closed by default (collections §3.1). The setting `auth.sign_up.<collection>` governs sign-up.
  auth: { list: '', view: isOwnAccount, create: '', update: isOwnAccount, delete: isOwnAccount },
  // For admins only. A view has no writes, so its other rules stay null (views §1.2).
  view: { ...publicRules, list: '', view: '' },
};

/** Returns the rules with those that the draft names. `checkRules` validates them. */
export function readRules(draft: CollectionChange, before: CollectionRules): CollectionRules {
  const { sign_in: signInBefore, webhook: webhookBefore, ...rules }: Changeable<CollectionRules> = { ...before };
  for (const name of actions) {
    const written = draft[`${name}_rule`];
    if (written !== undefined) rules[name] = written;
  }
  const { sign_in_rule: signIn = signInBefore, webhook_rule: webhook = webhookBefore } = draft;
  return { ...rules, ...(signIn != null && { sign_in: signIn }), ...(webhook && { webhook }) };
}

type Changeable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Adds a problem for each rule that the collection's type does not have. */
export function refuseOtherTypesRules(
  { sign_in_rule: signIn, webhook_rule: webhook }: Pick<CollectionChange, 'sign_in_rule' | 'webhook_rule'>,
  type: Collection['type'],
  problems: Pick<Problems, 'add'>,
): void {
  if (signIn != null && type !== 'auth') problems.add('sign_in_rule', 'is only for auth collections');
  if (webhook && type === 'view') problems.add('webhook_rule', 'is not for views: their records have no events');
}
