import {
  auditUser,
  deletePasskey,
  listPasskeys,
  lockUser,
  noteRemovedWays,
  type Passkey,
  renamePasskey,
} from '@recordbus/accounts';
import { conflict, forbidden, notFound, unauthenticated, validationFailed } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { runInUnit } from '../auth-unit.ts';
import { isOnlyWayIn } from '../identity/only-way-in.ts';
import { type CallerProof, proveCaller } from '../identity/proof-of-caller.ts';
import { hashOneTimeToken } from '../one-time/one-time-tokens.ts';
import type { Enrollment } from '../second-factors/enrollment.ts';
import { completeSignIn, type SignedIn } from '../sign-in/complete-sign-in.ts';
import { finishEnrollment } from '../sign-in/finish-enrollment.ts';
import type { FinishedSignIn } from '../sign-in/open-finished.ts';
import { type AddingTo, beginPasskey, finishPasskey, type NewPasskey } from './add-passkey.ts';
import { badPasskey } from './bad-passkey.ts';
import { type OfferedPasskey, provePasskey } from './prove-passkey.ts';

const ownerIn = ({ id }: Collection, accountId: string) => ({ realm: id, accountId });

/** A challenge belongs to the session, or to the sign-in that waits for a second factor. */
const addingTo = (collection: Collection, { userId, context: { principal }, enrollment }: CallerProof): AddingTo => ({
  ...ownerIn(collection, userId),
  sessionId: enrollment
    ? hashOneTimeToken(enrollment.token)
    : principal.type === 'user'
      ? principal.sessionId
      : undefined,
});

/** Begins to add a passkey to the caller's account. Throws 403 without the proof and for an anonymous user, 409, 422. */
export async function beginUserPasskey(parts: AuthParts, collection: Collection, proof: CallerProof) {
  const user = await proveCaller(parts, collection, 'fresh', proof);
  if (user.isAnonymous) throw forbidden('an anonymous user promotes the account first');
  return beginPasskey(parts, addingTo(collection, proof), user.email);
}

/** Adds the passkey that the browser made. The proof is the challenge, which `beginUserPasskey` gave the session. */
export function finishUserPasskey(
  parts: AuthParts,
  collection: Collection,
  caller: CallerProof,
  passkey: NewPasskey,
  origin: Origin,
): Promise<Passkey> {
  const { userId } = caller;
  return finishPasskey(parts, addingTo(collection, caller), passkey, {
    lock: async (query) => (await lockUser(query, collection, userId)) !== undefined,
    note: (query) => auditUser(query, 'users.passkey_add', collection, userId, origin),
  });
}

/**
 * Adds the passkey as the second factor for which a sign-in waits, and finishes the sign-in. Throws 422 for one that did
 * not verify its user after another passkey: both would prove the same.
 */
export async function enrollPasskey(
  parts: AuthParts,
  collection: Collection,
  {
    enrollment,
    caller,
    passkey,
  }: {
    readonly enrollment: Enrollment;
    readonly caller: CallerProof;
    readonly passkey: NewPasskey;
  },
  origin: Origin,
): Promise<{ readonly passkey: Passkey; readonly session: FinishedSignIn }> {
  const { userId } = caller;
  let session: FinishedSignIn | undefined;
  const added = await finishPasskey(parts, addingTo(collection, caller), passkey, {
    lock: async (query) => (await lockUser(query, collection, userId)) !== undefined,
    async note(query, { isUserVerified }) {
      if (!isUserVerified && enrollment.proved.includes('passkey'))
        throw validationFailed({ credential: 'must verify its user, by a PIN or a fingerprint' });
      await auditUser(query, 'users.passkey_add', collection, userId, origin);
      session = await finishEnrollment(query, parts, collection, { enrollment, second: 'passkey', origin });
    },
  });
  if (!session) throw badPasskey();
  return { passkey: added, session };
}

/**
 * Signs a user in with a passkey (auth §4.6). An authenticator that verified the user is both factors; without this, a
 * second one may be required. Throws 401, 403.
 */
export async function signInWithPasskey(
  parts: AuthParts,
  collection: Collection,
  offered: OfferedPasskey,
  origin: Origin,
): Promise<SignedIn> {
  const proved = await provePasskey(parts, collection.id, offered);
  return parts.database.transaction(async (query) => {
    const user = await lockUser(query, collection, proved.accountId);
    if (!user) throw badPasskey();
    await proved.accept(query);
    return completeSignIn(query, parts, {
      collection,
      user,
      origin,
      factor: 'passkey',
      hasBothFactors: proved.isUserVerified,
    });
  });
}

/** Lists a user's passkeys. */
export const listUserPasskeys = ({ database }: AuthParts, collection: Collection, userId: string): Promise<Passkey[]> =>
  listPasskeys(database.query, ownerIn(collection, userId));

/** Renames one of a user's passkeys. Throws 404. */
export async function renameUserPasskey(
  { database }: AuthParts,
  collection: Collection,
  userId: string,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<Passkey> {
  const renamed = id.includes('\0')
    ? undefined
    : await renamePasskey(database.query, ownerIn(collection, userId), id, name);
  if (!renamed) throw notFound('passkey');
  return renamed;
}

/**
 * Removes one of the caller's passkeys and notifies the user by mail. Throws 403 without the proof, 404, 409 for the only
 * way to sign in.
 */
export async function removeUserPasskey(
  parts: AuthParts,
  collection: Collection,
  proof: CallerProof,
  id: string,
  origin: Origin,
): Promise<void> {
  const owner = ownerIn(collection, proof.userId);
  if (!(await listPasskeys(parts.database.query, owner)).some((passkey) => passkey.id === id))
    throw notFound('passkey');
  await proveCaller(parts, collection, 'fresh', proof);
  await runInUnit(parts, async ({ query, due }) => {
    // Locked, so that one way in stays when two are removed at once.
    const user = await lockUser(query, collection, proof.userId);
    if (!user) throw unauthenticated();
    const isOnly = await isOnlyWayIn(query, parts, collection, user, 'passkey');
    if (!(await deletePasskey(query, owner, id))) throw notFound('passkey');
    if (isOnly)
      throw conflict('last_way_in', 'this passkey is the only way to sign in: set a password or add another first');
    await noteRemovedWays(query, collection, user, { removed: ['passkeys'], providers: [] });
    await auditUser(query, 'users.passkey_remove', collection, user.id, origin);
    due.add('notifyGateways');
  });
}
