import { findUserByEmail, findUserById, readerOf } from '@recordbus/accounts';
import { enqueueMail, isMailConfigured } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import { forbidden, unauthenticated } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { findOneTimeToken, hashOneTimeToken, issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { makeChange } from '../users/write-user.ts';
import { canReceiveMail, invalidToken, mailIsOff } from '../verification/verification.ts';

/** As long as the proof of a first address. */
const lifetimeSec = 3 * 24 * 60 * 60;

/**
 * Sends a token to the address that a user wants to have. An address of somebody else gets none, and the caller does
 * not learn which it was. Throws 422 for what can't be an address there and when mail is off, 403 for anonymous users.
 */
export async function requestEmailChange(
  parts: AuthParts,
  collection: Collection,
  userId: string,
  wanted: string,
): Promise<void> {
  const { database, settings, bus, inBackground, nowSec } = parts;
  if (!isMailConfigured(settings)) throw mailIsOff();
  const email = String(readerOf(collection).readChange({ email: wanted }).get('email'));
  const user = await findUserById(database.query, collection, userId);
  if (!user) throw unauthenticated();
  if (user.isAnonymous) throw forbidden('an anonymous user has no address to change');
  inBackground(async () => {
    if (await findUserByEmail(database.query, collection, email)) return;
    await database.transaction(async (query) => {
      const token = await issueOneTimeToken(query, {
        purpose: 'email_change',
        collectionId: collection.id,
        accountId: userId,
        data: { email: user.email, newEmail: email },
        nowSec: nowSec(),
        lifetimeSec,
      });
      await enqueueMail(query, {
        template: 'change',
        to: email,
        collection: collection.name,
        token,
        usefulForSec: lifetimeSec,
      });
    });
    bus.notify('mail');
  });
}

/**
 * Gives the holder of the token the new address; the old one is told. Throws 401 for a bad, used or expired token, 422
 * when somebody else has the address by now.
 */
export async function confirmEmailChange(
  parts: AuthParts,
  collection: Collection,
  token: string,
  origin: Origin,
): Promise<void> {
  const { database, settings, bus, nowSec } = parts;
  const presented = { purpose: 'email_change', collectionId: collection.id, token, nowSec: nowSec() } as const;
  const found = await findOneTimeToken(database.query, presented);
  if (!found) throw invalidToken();
  const [oldEmail, newEmail] = [String(found.data.email), String(found.data.newEmail)];
  await makeChange(parts, collection, {
    change: {
      id: found.accountId,
      fields: { email: newEmail },
      condition: { email: oldEmail },
      tokenHash: hashOneTimeToken(token),
      audit: 'users.email_change',
      userAgent: origin.userAgent,
    },
    context: origin.context,
    refusal: invalidToken,
    async finish(query, user, { name }) {
      if (!isMailConfigured(settings) || !canReceiveMail({ ...user, email: oldEmail })) return;
      const notice = { template: 'change_notice', to: oldEmail, collection: name, newEmail } as const;
      await enqueueMail(query, { ...notice, usefulForSec: lifetimeSec });
    },
  });
  bus.notify('mail');
}
