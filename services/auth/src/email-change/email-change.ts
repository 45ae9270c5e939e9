import { enqueueMail, isMailConfigured } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import { forbidden, unauthenticated } from '@recordbus/shared/errors';
import { type AuthParts, type Origin, tellOfWrittenUsers } from '../auth-parts.ts';
import { consumeOneTimeToken, issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { auditUser } from '../users/audit-user.ts';
import { changeUser } from '../users/change-user.ts';
import { findUserByEmail, findUserById } from '../users/find-user.ts';
import { readerOf } from '../users/record-reader.ts';
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
  { database, settings, bus, nowSec }: AuthParts,
  collection: Collection,
  token: string,
  origin: Origin,
): Promise<void> {
  await database.transaction(async (query) => {
    const presented = { purpose: 'email_change', collectionId: collection.id, token, nowSec: nowSec() } as const;
    const found = await consumeOneTimeToken(query, presented);
    if (!found) throw invalidToken();
    const { accountId, data } = found;
    const [oldEmail, newEmail] = [String(data.email), String(data.newEmail)];
    const user = await changeUser(query, collection, accountId, { email: newEmail }, origin.context, {
      email: oldEmail,
    });
    if (!user) throw invalidToken();
    await auditUser(query, 'users.email_change', collection, accountId, origin);
    if (isMailConfigured(settings) && canReceiveMail({ ...user, email: oldEmail }))
      await enqueueMail(query, {
        template: 'change_notice',
        to: oldEmail,
        collection: collection.name,
        newEmail,
        usefulForSec: lifetimeSec,
      });
  });
  tellOfWrittenUsers(bus);
  bus.notify('mail');
}
