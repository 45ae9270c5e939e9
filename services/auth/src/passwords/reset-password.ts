import { findUserByEmail, findUserById } from '@recordbus/accounts';
import { enqueueMail, isMailConfigured } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { findOneTimeToken, hashOneTimeToken, issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { makeChange } from '../users/write-user.ts';
import { canReceiveMail, invalidToken } from '../verification/verification.ts';

/** Contract §4. */
const lifetimeSec = 30 * 60;

/**
 * Sends a mail to whoever forgot their password. The caller learns nothing, not even by the time it takes, about
 * whether there is such a user: everything is done after the answer.
 */
export function requestPasswordReset(parts: AuthParts, collection: Collection, email: string): void {
  const { database, settings, bus, inBackground, nowSec } = parts;
  inBackground(async () => {
    if (!isMailConfigured(settings)) return;
    const user = await findUserByEmail(database.query, collection, email);
    if (!user || !canReceiveMail(user)) return;
    await database.transaction(async (query) => {
      const token = await issueOneTimeToken(query, {
        purpose: 'password_reset',
        collectionId: collection.id,
        accountId: user.id,
        data: { email: user.email },
        nowSec: nowSec(),
        lifetimeSec,
      });
      const to = { to: user.email, collection: collection.name };
      await enqueueMail(query, { template: 'reset', ...to, token, usefulForSec: lifetimeSec });
    });
    bus.notify('mail');
  });
}

interface Reset {
  readonly token: string;
  readonly password: string;
}

/**
 * Sets a new password for the holder of a token; all sessions end, and nobody is signed in. It also proves the address.
 * Throws 401 for a bad, used or expired token, 422 for a password that is refused, which does not use the token up.
 */
export async function confirmPasswordReset(
  parts: AuthParts,
  collection: Collection,
  { token, password }: Reset,
  { context, userAgent }: Origin,
): Promise<void> {
  const { database, passwords, nowSec } = parts;
  const presented = { purpose: 'password_reset', collectionId: collection.id, token, nowSec: nowSec() } as const;
  const found = await findOneTimeToken(database.query, presented);
  if (!found) throw invalidToken();
  const passwordHash = await passwords.hashNew(password);
  const user = await findUserById(database.query, collection, found.accountId);
  if (!user) throw invalidToken();
  const proof = user.verified ? {} : { fields: { verified: true }, closesOtherWaysIn: true };
  await makeChange(parts, collection, {
    change: {
      id: user.id,
      ...proof,
      passwordHash,
      condition: { email: String(found.data.email) },
      tokenHash: hashOneTimeToken(token),
      audit: 'users.password_reset',
      userAgent,
    },
    context,
    refusal: invalidToken,
    finish: async () => {},
  });
}
