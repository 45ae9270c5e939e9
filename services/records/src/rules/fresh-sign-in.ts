import { AppError } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';

/**
 * Throws 403 for a user whose sign-in is older than the collection's `fresh_s` (collections §1.8), or who never signed in:
 * an admin who acts as the user. Admins, service keys and guests have no sign-in that could be old.
 */
export function requireFreshSignIn({ freshSec }: Pick<Collection, 'freshSec'>, principal: Principal): void {
  if (freshSec === undefined || principal.type !== 'user') return;
  const ageSec = Math.floor(Date.now() / 1000) - (principal.signedInAtSec ?? 0);
  if (ageSec <= freshSec) return;
  throw new AppError(403, 'proof_required', `writing here needs a sign-in within the last ${freshSec} seconds`);
}
