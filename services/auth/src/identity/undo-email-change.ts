import { findUserByEmail, findUserById } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { conflict } from '@recordbus/errors';
import { isMailConfigured } from '@recordbus/mail';
import { type Collection, syntheticAddress } from '@recordbus/schema';
import { z } from 'zod';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { takesWay } from '../features.ts';
import { findOneTimeToken, hashOneTimeToken, issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { mailPasswordReset } from '../passwords/reset-password.ts';
import { writeUserChange } from '../users/write-user.ts';
import { canReceiveMail, invalidToken } from '../verification/verification.ts';

/** An undo link's lifetime (identity §4.4). */
const lifetimeSec = 7 * 24 * 60 * 60;

/**
 * An undo token's data: the address to restore, the change to undo, and whether the token is void once the account
 * proves another address.
 */
const undoData = z.object({
  email: z.string(),
  changeId: z.string(),
  changedAtSec: z.int(),
  untilProved: z.boolean().default(false),
});

interface Undoable extends z.output<typeof undoData> {
  readonly collectionId: string;
  readonly accountId: string;
}

/** Issues the token that undoes an address change. Tokens for earlier changes stay valid (identity §4.5). */
export const issueUndo = (
  query: Query,
  { collectionId, accountId, ...data }: Undoable,
  nowSec: number,
): Promise<string> =>
  issueOneTimeToken(query, {
    purpose: 'undo_email_change',
    collectionId,
    accountId,
    data,
    nowSec,
    lifetimeSec,
    replaces: false,
  });

/**
 * Whether the account has a lasting undo link that restores this address. If the user returns to it by another change,
 * the address in between gets no undo link (identity §4.5).
 */
export async function isUndoAddress(query: Query, accountId: string, email: string, nowSec: number): Promise<boolean> {
  const rows = await query({
    text: `select from system.one_time_tokens where account_id = $1 and purpose = 'undo_email_change'
      and lower(data->>'email') = lower($2) and data->>'untilProved' is distinct from 'true' and expires_at > $3
      limit 1`,
    values: [accountId, email, nowSec],
  });
  return rows.length > 0;
}

/**
 * Undoes an address change for the undo token's holder (identity §4.4): restores the old address as proved, ends every
 * session and pending link, and removes the provider links made since the change and later changes' undo links. If the
 * old address was not proved, this is its first proof. A reset mail follows. Throws 401 for a bad, used, void or
 * expired token, 409 when another user has proved the address since.
 */
export async function undoEmailChange(
  parts: AuthParts,
  collection: Collection,
  token: string,
  origin: Origin,
): Promise<void> {
  const { database, settings, nowSec } = parts;
  const presented = { purpose: 'undo_email_change', collectionId: collection.id, token, nowSec: nowSec() } as const;
  const found = await findOneTimeToken(database.query, presented);
  if (!found || !(await findUserById(database.query, collection, found.accountId))) throw invalidToken();
  const { email, changeId, changedAtSec, untilProved } = undoData.parse(found.data);
  await freeAddress(parts, collection, { email, accountId: found.accountId }, origin);
  await writeUserChange(parts, collection, {
    change: {
      id: found.accountId,
      fields: { email, verified: true },
      endsSessions: true,
      undoes: { changeId, changedAtSec },
      ...(untilProved && { closesOtherWaysIn: true, condition: { isVerified: false } }),
      tokenHash: hashOneTimeToken(token),
      audit: 'users.email_change_undone',
      userAgent: origin.userAgent,
    },
    context: origin.context,
    refusal: invalidToken,
    async finish(unit, user, collection) {
      const isMailed = takesWay(settings, collection, 'password') && isMailConfigured(settings);
      if (isMailed && canReceiveMail(user)) await mailPasswordReset(unit, parts, collection, user);
    },
  });
}

/**
 * Frees an address whose owner has just proved it. Another account that has it unproved gets a made-up address
 * (identity §4.6); otherwise a thief could register the old address to keep a stolen account.
 */
async function freeAddress(
  parts: AuthParts,
  collection: Collection,
  { email, accountId }: { readonly email: string; readonly accountId: string },
  origin: Origin,
): Promise<void> {
  const other = await findUserByEmail(parts.database.query, collection, email);
  if (!other || other.id === accountId) return;
  if (other.verified) throw addressTaken();
  await writeUserChange(parts, collection, {
    change: {
      id: other.id,
      fields: {},
      given: { email: syntheticAddress('displaced', other.id) },
      endsSessions: true,
      condition: { email, isVerified: false },
      audit: 'users.email_change',
      userAgent: origin.userAgent,
    },
    context: origin.context,
    refusal: addressTaken,
    // The address's holder is the caller and needs no notice.
    finish: ({ query }) => dropNotice(query, other.id, email),
  });
}

async function dropNotice(query: Query, accountId: string, email: string): Promise<void> {
  await query({
    text: `delete from system.account_changes where account_id = $1 and kind = 'email' and email = $2`,
    values: [accountId, email],
  });
}

const addressTaken = () => conflict('email_taken', 'another user has proved the address');
