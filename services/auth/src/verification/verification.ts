import { findUserById, type User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { enqueueMail, isMailConfigured, type Mail } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import { AppError, unauthenticated } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { findOneTimeToken, hashOneTimeToken, issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { makeChange } from '../users/write-user.ts';

/** Contract §4. */
const lifetimeSec = 3 * 24 * 60 * 60;

/** Issues the token that proves the user's address, and gives the mail that carries it. */
export async function issueVerification(
  query: Query,
  { nowSec }: Pick<AuthParts, 'nowSec'>,
  collection: Collection,
  { id, email }: User,
): Promise<Mail> {
  const token = await issueOneTimeToken(query, {
    purpose: 'verification',
    collectionId: collection.id,
    accountId: id,
    data: { email },
    nowSec: nowSec(),
    lifetimeSec,
  });
  return { template: 'verify', to: email, collection: collection.name, token, usefulForSec: lifetimeSec };
}

/** Sends the user the mail again. Throws 422 when mail is off; nothing is sent to an address that is proved. */
export async function requestVerification(parts: AuthParts, collection: Collection, userId: string): Promise<void> {
  const { database, settings, bus } = parts;
  if (!isMailConfigured(settings)) throw mailIsOff();
  const user = await findUserById(database.query, collection, userId);
  if (!user) throw unauthenticated();
  if (user.verified || !canReceiveMail(user)) return;
  await database.transaction(async (query) =>
    enqueueMail(query, await issueVerification(query, parts, collection, user)),
  );
  bus.notify('mail');
}

/** Takes the proof of an address. Throws 401 for a bad, used or expired token, and for one of another address. */
export async function verifyEmail(
  parts: AuthParts,
  collection: Collection,
  token: string,
  { context }: Origin,
): Promise<void> {
  const { database, nowSec } = parts;
  const presented = { purpose: 'verification', collectionId: collection.id, token, nowSec: nowSec() } as const;
  const found = await findOneTimeToken(database.query, presented);
  if (!found) throw invalidToken();
  await makeChange(parts, collection, {
    change: {
      id: found.accountId,
      fields: { verified: true },
      condition: { email: String(found.data.email) },
      tokenHash: hashOneTimeToken(token),
    },
    context,
    refusal: invalidToken,
    finish: async () => {},
  });
}

/** 422 where a mail is asked for that nobody can send. */
export const mailIsOff = () => new AppError(422, 'mail_not_configured', 'mail is not configured');

/** 401 for a one-time token that is wrong, used or expired. */
export const invalidToken = () => new AppError(401, 'invalid_token', 'the token is wrong, used or expired');

/** Has the user an address of their own? Those that were made up for them lead nowhere (RFC 6761 §6.4). */
export const canReceiveMail = ({ email, isAnonymous }: User): boolean =>
  !isAnonymous && !email.toLowerCase().endsWith('.invalid');
