import { type Directory, type TranslatedRule, translateRule } from '../rules/index.ts';
import type { StoredCollection, StoredField } from './definition.ts';
import type { FieldDefinition } from './fields.ts';
import type { Note } from './note.ts';

/** Who sees an address in PocketBase: its owner, and everyone if it is visible. */
const visibleAddress = 'id = @request.auth.id || emailVisibility = true';

/** Translates what shows addresses to managers. The rest of the rule has no place here: only admins manage accounts. */
export function translateManageRule(from: StoredCollection, directory: Directory): TranslatedRule | undefined {
  const { manageRule = null } = from.options;
  if (from.type !== 'auth' || manageRule === null || manageRule === '') return undefined;
  const rule = translateRule(manageRule, 'manage', from, directory);
  if (rule.result === 'locked') return rule;
  if (rule.to?.includes('@request.body'))
    return { ...rule, to: '', result: 'locked', why: 'it is about a body, which no request for an address has' };
  const why = 'it shows addresses, and nothing else';
  return { ...rule, result: 'narrower', why: rule.why ? `${rule.why}; ${why}` : why };
}

/** Definitions for members that every auth collection has here. Others need none. */
export function ownDefinition(
  { type, fields }: StoredCollection,
  { name, hidden, required }: StoredField,
  managers: string | null | undefined,
): FieldDefinition[] {
  if (type === 'auth' && name === 'verified' && hidden) return [{ name, type: 'bool', view_rule: '' }];
  if (type !== 'auth' || name !== 'email') return [];
  const canShow = fields.some((field) => field.name === 'emailVisibility');
  const rule = canShow ? visibleAddress : 'id = @request.auth.id';
  return [
    {
      name,
      type: 'email',
      view_rule: managers ? `${rule} || ${managers}` : rule,
      ...(!required && { options: { default: '@none' } }),
    },
  ];
}

/** Whether everyone needed a second factor, which may be a mailed code: here it is one. */
export const mailsFactors = ({ mfa, otp }: StoredCollection['options']): boolean =>
  mfa?.enabled === true && !mfa.rule && otp?.enabled === true;

/**
 * The value of `auth.methods.<collection>` (auth §1.6): the ways that PocketBase takes, and passkeys, which only users add who
 * are signed in. Undefined if PocketBase takes every way.
 */
export function waysIn({ passwordAuth, otp, oauth2 }: StoredCollection['options']): string | undefined {
  const isOff = {
    password: passwordAuth?.enabled === false,
    otp: otp?.enabled === false,
    oauth2: oauth2?.enabled === false,
  };
  const ways = (['password', 'otp', 'oauth2'] as const).filter((way) => !isOff[way]);
  if (ways.length === Object.keys(isOff).length) return undefined;
  return ways.length === 0 ? 'none' : [...ways, 'passkey'].join(',');
}

/** Notes what is different about accounts, and what to do. `here` is the collection's name here. */
export function noteAccounts(
  { options, fields }: StoredCollection,
  here: string,
  note: (kind: Note['kind'], text: string) => void,
): void {
  const { manageRule, mfa, otp } = options;
  if (manageRule)
    note(
      'left_out',
      `those who met the manage rule also set the address, the password and verified in others' accounts: here a server does it for them, with a service key that has the scope records:${here}:write`,
    );
  if (mfa?.enabled && !mailsFactors(options))
    note(
      'risk',
      `a second factor was required${mfa.rule ? ` (${mfa.rule})` : ''}: here only users with an authenticator app need one. Ask them to set one up before you let them in`,
    );
  if (otp?.enabled) note('changed', 'mailed codes sign in here once mail is set up and auth.otp.enabled is 1');
  if (fields.some(({ name, required }) => name === 'email' && !required))
    note('changed', 'users may do without an address: they have a made-up one at users.invalid, which gets no mail');
}
