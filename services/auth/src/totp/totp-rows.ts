import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';

/** What is kept of a user's authenticator app. */
export interface TotpRow {
  readonly email: string;
  readonly isAnonymous: boolean;
  /** As it is stored, perhaps sealed; null when there is none. */
  readonly stored: string | null;
  /** False while the first code is still to come. */
  readonly isEnabled: boolean;
}

/** Reads it; undefined for a user who is gone. */
export async function findTotp(query: Query, collection: Collection, userId: string): Promise<TotpRow | undefined> {
  const [row] = await query<TotpRow>({
    text: `select email, is_anonymous as "isAnonymous", totp_secret as stored, totp_enabled as "isEnabled"
      from ${tableOf(collection)} where id = $1`,
    values: [userId],
  });
  return row;
}

/** Stores the secret of an app that is to be confirmed; false when one is in use. */
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

/** Holds a user who has an app in use for the rest of the transaction; false for one who has none. */
export async function lockTotp(query: Query, collection: Collection, userId: string): Promise<boolean> {
  const rows = await query({
    text: `select 1 from ${tableOf(collection)} where id = $1 and totp_enabled for update`,
    values: [userId],
  });
  return rows.length > 0;
}

/** A code that was right, of the app whose secret is stored like this. */
export interface AcceptedCode {
  readonly userId: string;
  readonly stored: string;
  readonly step: number;
}

/** Takes the app into use with its first code; false when another request was faster. */
export const enableTotp = (query: Query, collection: Collection, code: AcceptedCode): Promise<boolean> =>
  changeTotp(query, collection, code, { set: 'totp_enabled = true, totp_last_step = $3', where: 'not totp_enabled' });

/** Takes a code, and no code of its time step or an earlier one again; false when that happened already. */
export const useTotpCode = (query: Query, collection: Collection, code: AcceptedCode): Promise<boolean> =>
  changeTotp(query, collection, code, { set: 'totp_last_step = $3', where: isFresh });

/** Takes a code as the last one and forgets the app. */
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
