import { findUserByEmail, findUserById, type User } from '@recordbus/accounts';
import { enqueueMail, findLanguage, isMailConfigured } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { type AuthUnit, runInUnit } from '../auth-unit.ts';
import { findOneTimeToken, hashOneTimeToken, issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { writeUserChange } from '../users/write-user.ts';
import { reserveMail } from '../verification/mail-limit.ts';
import { canReceiveMail, invalidToken } from '../verification/verification.ts';

/** identity §3.2 */
const lifetimeSec = 30 * 60;

/**
 * Mails a user a reset link (identity §3.1). The work follows the answer, so neither the answer nor its time reveals
 * whether the user exists.
 */
export function requestPasswordReset(parts: AuthParts, collection: Collection, email: string): void {
  const { database, settings, inBackground } = parts;
  inBackground(async () => {
    if (!isMailConfigured(settings)) return;
    const user = await findUserByEmail(database.query, collection, email);
    if (!user || !canReceiveMail(user)) return;
    await runInUnit(parts, async (unit) => {
      const isAllowed = await reserveMail(unit.query, parts, { template: 'reset', to: user.email, accountId: user.id });
      if (isAllowed) await mailPasswordReset(unit, parts, collection, user);
    });
  });
}

/** Mails a user a reset link, in the caller's unit and without a limit. */
export async function mailPasswordReset(
  { query, due }: AuthUnit,
  { nowSec, settings }: Pick<AuthParts, 'nowSec' | 'settings'>,
  collection: Collection,
  { id, email, record }: User,
): Promise<void> {
  const token = await issueOneTimeToken(query, {
    purpose: 'password_reset',
    collectionId: collection.id,
    accountId: id,
    data: { email },
    nowSec: nowSec(),
    lifetimeSec,
  });
  const about = { collectionId: collection.id, recordId: id };
  const to = { to: email, collection: collection.name, about, lang: findLanguage(settings, collection.name, record) };
  await enqueueMail(query, { template: 'reset', ...to, token, usefulForSec: lifetimeSec });
  due.add('sendMails');
}

interface Reset {
  readonly token: string;
  readonly password: string;
}

/**
 * Sets a new password for a token's holder (identity §3.2). All sessions end, none is opened, and the address is
 * proved. Throws 401 for a bad, used or expired token, 422 for a refused password, which leaves the token valid.
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
  await writeUserChange(parts, collection, {
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
