import { listPasskeys, needsSecondFactor, type User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';
import { takesWay } from '../features.ts';
import { canReceiveMail } from '../verification/verification.ts';

/**
 * What a sign-in still needs: a code of the authenticator app, a mailed code, a passkey, or, for an account without any
 * of them, the set-up of a second factor.
 */
export type MissingFactor = 'app' | 'email' | 'passkey' | 'enrollment';

type Parts = Pick<AuthParts, 'settings' | 'schema'>;

/**
 * Finds what a sign-in with the proved factors still needs (auth §6.3, §6.10, §6.11); undefined when it is whole. The rule
 * is asked last, so an account with an app costs no statement.
 */
export async function findMissingFactor(
  query: Query,
  { settings, schema }: Parts,
  {
    collection,
    user,
    proved,
  }: { readonly collection: Collection; readonly user: User; readonly proved: readonly string[] },
): Promise<MissingFactor | undefined> {
  if (user.isAnonymous || proved.includes('mfa')) return undefined;
  if (user.totpEnabled) return 'app';
  // A second code in the same mailbox would prove nothing more.
  if (
    !proved.includes('email') &&
    settings.getNamed('auth.mfa.email.<collection>', collection.name) &&
    canReceiveMail(user)
  )
    return 'email';
  const rule = settings.getNamed('auth.mfa.required.<collection>', collection.name);
  if (!(await needsSecondFactor(query, { schema, rule }, collection, user.id))) return undefined;
  const takesPasskeys = settings.get('auth.passkeys.enabled') && takesWay(settings, collection, 'passkey');
  if (proved.includes('passkey') || !takesPasskeys) return 'enrollment';
  const passkeys = await listPasskeys(query, { realm: collection.id, accountId: user.id });
  return passkeys.length > 0 ? 'passkey' : 'enrollment';
}
