import {
  auditUser,
  deleteBlock,
  deleteLinks,
  deletePasskey,
  endTokens,
  insertBlock,
  type Link,
  listLinkedProviders,
  lockUser,
  noteRemovedWays,
  type User,
} from '@recordbus/accounts';
import { AppError, conflict, notFound } from '@recordbus/errors';
import { isMailConfigured } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { type AuthUnit, runInUnit } from '../auth-unit.ts';
import { requireWay } from '../features.ts';
import { makeLink } from '../identity/make-link.ts';
import { isOnlyWayIn } from '../identity/only-way-in.ts';
import { mailPasswordReset } from '../passwords/reset-password.ts';
import { endOtherSessions, endSession } from '../sessions/session-rows.ts';
import { usersOf } from '../totp/factor-accounts.ts';
import { removeRecoveryCodes } from '../totp/recovery-codes.ts';
import { resetTotp } from '../totp/totp-rows.ts';
import { canReceiveMail, mailNotConfigured } from '../verification/verification.ts';

type Parts = Pick<AuthParts, 'database' | 'bus' | 'nowSec' | 'settings'>;

/** The account that an admin changes, and the request. */
export interface Change {
  readonly collection: Collection;
  readonly id: string;
  readonly origin: Origin;
}

/** Changes an account with its row locked. Throws 404. */
const change = (
  parts: Parts,
  { collection, id }: Change,
  work: (unit: AuthUnit, user: User) => Promise<void>,
): Promise<void> =>
  runInUnit(parts, async (unit) => {
    const user = id.includes('\0') ? undefined : await lockUser(unit.query, collection, id);
    if (!user) throw notFound('user');
    await work(unit, user);
    unit.due.add('notifyGateways');
  });

/** Ends one of a user's sessions, or all of them with the pending links. Throws 404. */
export const endSessionsOf = (parts: Parts, target: Change, sessionId?: string): Promise<void> =>
  change(parts, target, async ({ query }, { id }) => {
    if (sessionId === undefined) await endOtherSessions(query, id, undefined);
    else if (sessionId.includes('\0') || !(await endSession(query, id, sessionId))) throw notFound('session');
    await auditUser(query, 'users.sign_out', target.collection, id, target.origin);
  });

/** Removes a user's authenticator app and recovery codes and mails the user. Throws 404, 422 without an app. */
export const resetSecondFactor = (parts: Parts, target: Change): Promise<void> =>
  change(parts, target, async ({ query }, user) => {
    const { collection, origin } = target;
    if (!(await resetTotp(query, usersOf(collection), user.id)))
      throw new AppError(422, 'totp_not_enabled', 'no authenticator app is set up');
    await removeRecoveryCodes(query, user.id);
    await noteRemovedWays(query, collection, user, { removed: ['totp'], providers: [] });
    await auditUser(query, 'users.mfa_disable', collection, user.id, origin);
  });

/**
 * Links a user to an identity that another system has proved. Linking again changes nothing. Throws 404, and 409 when the
 * identity is another user's.
 */
export const linkProvider = (parts: Parts, target: Change, link: Link): Promise<void> =>
  change(parts, target, async ({ query }, user) => {
    await makeLink(query, parts, target.collection, user, link, target.origin);
  });

/** Removes a user's link to a provider and mails the user. Throws 404, 409 for the only way to sign in. */
export const unlinkProvider = (parts: Parts, target: Change, provider: string): Promise<void> =>
  change(parts, target, async ({ query }, user) => {
    const { collection, origin } = target;
    const linked = await listLinkedProviders(query, user.id);
    if (!linked.includes(provider)) throw notFound('link');
    if (await isOnlyWayIn(query, parts, collection, user, 'oauth2'))
      throw conflict('last_way_in', 'this link is the only way to sign in: set a password or add a passkey first');
    await deleteLinks(query, user.id, provider);
    await noteRemovedWays(query, collection, user, { removed: ['links'], providers: [provider] });
    await auditUser(query, 'users.oauth_unlink', collection, user.id, origin, { provider });
  });

/** Removes a user's passkey and mails the user. Throws 404, 409 for the only way to sign in. */
export const removePasskey = (parts: Parts, target: Change, passkeyId: string): Promise<void> =>
  change(parts, target, async ({ query }, user) => {
    const { collection, origin } = target;
    const isOnly = await isOnlyWayIn(query, parts, collection, user, 'passkey');
    const owner = { realm: collection.id, accountId: user.id };
    if (passkeyId.includes('\0') || !(await deletePasskey(query, owner, passkeyId))) throw notFound('passkey');
    if (isOnly)
      throw conflict('last_way_in', 'this passkey is the only way to sign in: set a password or add a link first');
    await noteRemovedWays(query, collection, user, { removed: ['passkeys'], providers: [] });
    await auditUser(query, 'users.passkey_remove', collection, user.id, origin);
  });

/**
 * Mails a user a link for a new password. Throws 404, 409 without an address, 422 without a mail server, and where
 * passwords do not sign in.
 */
export const mailReset = (
  parts: Pick<AuthParts, 'database' | 'bus' | 'nowSec' | 'settings'>,
  target: Change,
): Promise<void> =>
  change(parts, target, async (unit, user) => {
    requireWay(parts.settings, target.collection, 'password');
    if (!isMailConfigured(parts.settings)) throw mailNotConfigured();
    if (!canReceiveMail(user)) throw conflict('no_address', 'the user has no address that can receive mail');
    await mailPasswordReset(unit, parts, target.collection, user);
    await auditUser(unit.query, 'users.mail_reset', target.collection, user.id, target.origin);
  });

/** Blocks a user: all tokens end, and no sign-in opens a session. Blocking again changes nothing. Throws 404. */
export const block = (parts: Parts, target: Change): Promise<void> =>
  change(parts, target, async ({ query }, { id }) => {
    const { collection, origin } = target;
    const made = await insertBlock(query, { accountId: id, collectionId: collection.id, nowSec: parts.nowSec() });
    if (!made) return;
    await endTokens(query, collection, id);
    await auditUser(query, 'users.block', collection, id, origin);
  });

/** Unblocks a user. Changes nothing for a user who is not blocked. Throws 404. */
export const unblock = (parts: Parts, target: Change): Promise<void> =>
  change(parts, target, async ({ query }, { id }) => {
    if (await deleteBlock(query, id)) await auditUser(query, 'users.unblock', target.collection, id, target.origin);
  });
