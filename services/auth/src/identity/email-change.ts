import {
  findRefusedFields,
  findUserByEmail,
  findUserById,
  guessOldPassword,
  proofRequired,
  readerOf,
  type User,
} from '@recordbus/accounts';
import { forbidden, refusedMembers, unauthenticated } from '@recordbus/errors';
import { enqueueMail, findLanguage, isMailConfigured } from '@recordbus/mail';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { type AuthUnit, runInUnit } from '../auth-unit.ts';
import { findOneTimeToken, hashOneTimeToken, issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { lockSession } from '../sessions/session-rows.ts';
import { writeUserChange } from '../users/write-user.ts';
import { reserveMail } from '../verification/mail-limit.ts';
import { invalidToken, mailNotConfigured } from '../verification/verification.ts';
import { proveCaller } from './proof-of-caller.ts';

/** The link's lifetime (identity §4.2). */
const lifetimeSec = 3 * 24 * 60 * 60;

type SignedInUser = Extract<Principal, { type: 'user' }>;

interface WantedAddress {
  readonly email: string;
  readonly oldPassword: string | undefined;
  /** Whether the account's password comes with the confirmation instead, if it has one. */
  readonly provesLater: boolean;
}

/**
 * Mails a link to the address that a user wants (identity §4.1). Another user's address gets no mail, and the answer
 * does not reveal that. Throws 422 for a text that is not a valid address and when mail is off, 403 for anonymous
 * users, for a caller without the proof, and for one who may not write the field `email`.
 */
export async function requestEmailChange(
  parts: AuthParts,
  collection: Collection,
  { id: userId, sessionId }: Pick<SignedInUser, 'id' | 'sessionId'>,
  { email: wanted, oldPassword, provesLater }: WantedAddress,
  { context }: Origin,
): Promise<void> {
  const { database, settings, inBackground } = parts;
  if (!isMailConfigured(settings)) throw mailNotConfigured();
  const email = String((await readerOf(collection).readChange({ email: wanted })).get('email'));
  const caller = await findUserById(database.query, collection, userId);
  if (!caller) throw unauthenticated();
  if (caller.isAnonymous) throw forbidden('an anonymous user has no address to change');
  const session = context.principal.type === 'user' ? context.principal : {};
  const { factors, signedInAtSec }: Pick<SignedInUser, 'factors' | 'signedInAtSec'> = session;
  const writer = { ...caller, factors, signedInAtSec };
  const refused = await findRefusedFields(database.query, 'write', collection, writer, parts.schema);
  if (refused.has('email')) throw refusedMembers(forbidden("a field's rule does not allow it"), ['email']);
  const asksPassword = provesLater && caller.passwordHash !== null;
  const user = asksPassword
    ? caller
    : await proveCaller(parts, collection, 'password', { userId, oldPassword, context });
  inBackground(async () => {
    if (await findUserByEmail(database.query, collection, email)) return;
    await runInUnit(parts, async (unit) => {
      // A session that has ended in the meantime leaves no link behind.
      if (sessionId && !(await lockSession(unit.query, userId, sessionId))) return;
      await mailEmailChange(unit, parts, collection, user, { email, asksPassword });
    });
  });
}

async function mailEmailChange(
  { query, due }: AuthUnit,
  parts: Pick<AuthParts, 'nowSec' | 'settings'>,
  collection: Collection,
  { id, email, record }: User,
  { email: newEmail, asksPassword }: { readonly email: string; readonly asksPassword: boolean },
): Promise<void> {
  if (!(await reserveMail(query, parts, { template: 'change', to: newEmail, accountId: id }))) return;
  const token = await issueOneTimeToken(query, {
    purpose: 'email_change',
    collectionId: collection.id,
    accountId: id,
    data: { email, newEmail, ...(asksPassword && { asksPassword }) },
    nowSec: parts.nowSec(),
    lifetimeSec,
  });
  const about = { collectionId: collection.id, recordId: id };
  const lang = findLanguage(parts.settings, collection.name, record);
  const to = { to: newEmail, collection: collection.name, about, lang };
  await enqueueMail(query, { template: 'change', ...to, token, usefulForSec: lifetimeSec });
  due.add('sendMails');
}

/**
 * Changes the address for the token's holder (identity §4.2). Throws 401 for a bad, used or expired token, 403 without
 * the password that the request promised, 429 after too many wrong ones, 422 when another user has the address now.
 */
export async function confirmEmailChange(
  parts: AuthParts,
  collection: Collection,
  { token, password }: { readonly token: string; readonly password: string | undefined },
  origin: Origin,
): Promise<void> {
  const { database, nowSec, guessLimit } = parts;
  const presented = { purpose: 'email_change', collectionId: collection.id, token, nowSec: nowSec() } as const;
  const found = await findOneTimeToken(database.query, presented);
  if (!found) throw invalidToken();
  if (found.data.asksPassword) {
    const user = await findUserById(database.query, collection, found.accountId);
    if (!user) throw invalidToken();
    if (password === undefined) throw needsPassword('is required');
    if (!(await guessOldPassword(guessLimit, user, password))) throw needsPassword('is wrong');
  }
  await writeUserChange(parts, collection, {
    change: {
      id: found.accountId,
      fields: { email: String(found.data.newEmail) },
      condition: { email: String(found.data.email) },
      confirmsEmail: true,
      tokenHash: hashOneTimeToken(token),
      audit: 'users.email_change',
      userAgent: origin.userAgent,
    },
    context: origin.context,
    refusal: invalidToken,
    finish: async () => {},
  });
}

const needsPassword = (problem: string) =>
  proofRequired({ password: problem }, "this change needs the account's password");
