import { findUserByEmail, findUserById, type Removable, type User } from '@recordbus/accounts';
import { AppError, unauthenticated } from '@recordbus/errors';
import { enqueueMail, findLanguage, isMailConfigured } from '@recordbus/mail';
import type { RequestContext } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { type AuthUnit, runInUnit } from '../auth-unit.ts';
import { findOneTimeToken, hashOneTimeToken, issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { writeUserChange } from '../users/write-user.ts';
import { reserveMail } from './mail-limit.ts';

/** identity §1.2 */
const lifetimeSec = 3 * 24 * 60 * 60;

/**
 * Queues a user's verification mail, in the caller's unit (identity §1.1). Queues none when mail is off, the address is
 * proved or made up, or the limit is reached.
 */
export async function mailVerification(
  { query, due }: AuthUnit,
  parts: Pick<AuthParts, 'settings' | 'nowSec'>,
  collection: Collection,
  user: User,
): Promise<void> {
  const { id, email } = user;
  if (!isMailConfigured(parts.settings) || user.verified || !canReceiveMail(user)) return;
  if (!(await reserveMail(query, parts, { template: 'verify', to: email, accountId: id }))) return;
  const token = await issueOneTimeToken(query, {
    purpose: 'verification',
    collectionId: collection.id,
    accountId: id,
    data: { email },
    nowSec: parts.nowSec(),
    lifetimeSec,
  });
  await enqueueMail(query, {
    template: 'verify',
    to: email,
    collection: collection.name,
    about: { collectionId: collection.id, recordId: id },
    lang: findLanguage(parts.settings, collection.name, user.record),
    token,
    usefulForSec: lifetimeSec,
  });
  due.add('sendMails');
}

/** Sends the mail again. Throws 422 when mail is off; a proved address gets no mail (identity §1.1). */
export async function requestVerification(parts: AuthParts, collection: Collection, userId: string): Promise<void> {
  const { database, settings } = parts;
  if (!isMailConfigured(settings)) throw mailNotConfigured();
  const user = await findUserById(database.query, collection, userId);
  if (!user) throw unauthenticated();
  await runInUnit(parts, (unit) => mailVerification(unit, parts, collection, user));
}

/**
 * Sends it again to an address. The work follows the answer, so neither the answer nor its time reveals whether the user
 * exists, or has proved the address (identity §1.1).
 */
export function requestVerificationOf(parts: AuthParts, collection: Collection, email: string): void {
  const { database, inBackground } = parts;
  inBackground(async () => {
    const user = await findUserByEmail(database.query, collection, email);
    if (user) await runInUnit(parts, (unit) => mailVerification(unit, parts, collection, user));
  });
}

/**
 * Proves an address with the mailed token. Returns what a first proof removed from the account: provider links and the
 * authenticator app, unless the request carries the account's session (identity §2.3). Throws 401 for a bad, used or
 * expired token, and for a token for another address.
 */
export async function verifyEmail(
  parts: AuthParts,
  collection: Collection,
  token: string,
  { context, userAgent }: Origin,
): Promise<readonly Removable[]> {
  const { database, nowSec } = parts;
  const presented = { purpose: 'verification', collectionId: collection.id, token, nowSec: nowSec() } as const;
  const found = await findOneTimeToken(database.query, presented);
  if (!found) throw invalidToken();
  return writeUserChange(parts, collection, {
    change: {
      id: found.accountId,
      fields: { verified: true },
      closesAttached: !isHolder(collection, found.accountId, context),
      condition: { email: String(found.data.email) },
      tokenHash: hashOneTimeToken(token),
      userAgent,
    },
    context,
    refusal: invalidToken,
    finish: async (_unit, _user, _collection, removed) => removed,
  });
}

/** Whether the caller has the account's session, other than one in which an admin acts as the user. */
const isHolder = ({ name }: Collection, accountId: string, { principal }: RequestContext): boolean =>
  principal.type === 'user' && principal.collection === name && principal.id === accountId && !principal.impersonatedBy;

/** 422 for a route that needs mail while mail is not configured (mail §1.2). */
export const mailNotConfigured = () => new AppError(422, 'mail_not_configured', 'mail is not configured');

/** 401 for a one-time token that is wrong, used or expired. */
export const invalidToken = () => new AppError(401, 'invalid_token', 'the token is wrong, used or expired');

/** Whether the user has a real address. Made-up addresses get no mail (auth §1.4, RFC 6761 §6.4). */
export const canReceiveMail = ({ email, isAnonymous }: Pick<User, 'email' | 'isAnonymous'>): boolean =>
  !isAnonymous && !email.toLowerCase().endsWith('.invalid');
