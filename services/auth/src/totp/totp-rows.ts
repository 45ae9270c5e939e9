import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';

/** The columns of a user's authenticator app. */
export interface TotpRow {
  readonly email: string;
  readonly isAnonymous: boolean;
  /** The stored secret, encrypted if there is a key; null when there is none. */
  readonly stored: string | null;
  /** False until the first code. */
  readonly isEnabled: boolean;
}

/** Reads the columns; undefined for a deleted user. */
export async function findTotp(query: Query, collection: Collection, userId: string): Promise<TotpRow | undefined> {
  const [row] = await query<TotpRow>({
    text: `select email, is_anonymous as "isAnonymous", totp_secret as stored, totp_enabled as "isEnabled"
      from ${tableOf(collection)} where id = $1`,
    values: [userId],
  });
  return row;
}

/** Stores the secret of an unconfirmed app; returns false when an app is in use. */
export async function storeTotp(
  query: Query,
  collection: Collection,
  userId: string,
  stored: string,
): Promise<boolean> {
  const rows = await query({
    text: `update ${tableOf(collection)} set totp_secret = $2, totp_last_step = null
      where id = $1 and not totp_enabled returning 1`,
    values: [userId, stored],
  });
  return rows.length > 0;
}

/** Locks a user with an app for the rest of the transaction; returns false for a user without one. */
export async function lockTotp(query: Query, collection: Collection, userId: string): Promise<boolean> {
  const rows = await query({
    text: `select 1 from ${tableOf(collection)} where id = $1 and totp_enabled for update`,
    values: [userId],
  });
  return rows.length > 0;
}

/** A right code, with its time step and the stored secret that it was checked against. */
export interface AcceptedCode {
  readonly userId: string;
  readonly stored: string;
  readonly step: number;
}

/** Enables the app with its first code; returns false when another request came first. */
export const enableTotp = (query: Query, collection: Collection, code: AcceptedCode): Promise<boolean> =>
  changeTotp(query, collection, code, { set: 'totp_enabled = true, totp_last_step = $3', where: 'not totp_enabled' });

/** Uses up a code, all codes of its step and earlier ones; returns false when it was used before (auth §6.5). */
export const useTotpCode = (query: Query, collection: Collection, code: AcceptedCode): Promise<boolean> =>
  changeTotp(query, collection, code, { set: 'totp_last_step = $3', where: isFresh });

/** Uses up a code and removes the app. */
export const dropTotp = (query: Query, collection: Collection, code: AcceptedCode): Promise<boolean> =>
  changeTotp(query, collection, code, {
    set: 'totp_enabled = false, totp_secret = null, totp_last_step = null',
    where: isFresh,
  });

const isFresh = 'totp_enabled and coalesce(totp_last_step, 0) < $3';

async function changeTotp(
  query: Query,
  collection: Collection,
  { userId, stored, step }: AcceptedCode,
  { set, where }: { set: string; where: string },
): Promise<boolean> {
  const rows = await query({
    text: `update ${tableOf(collection)} set ${set}
      where id = $1 and totp_secret = $2 and ${where} returning 1`,
    values: [userId, stored, step],
  });
  return rows.length > 0;
}
