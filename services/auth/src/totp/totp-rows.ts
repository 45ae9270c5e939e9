import type { Query } from '@recordbus/database';
import type { FactorAccounts } from './factor-accounts.ts';

/** The columns for an account's authenticator app. */
export interface TotpRow {
  readonly email: string;
  /** The stored secret, encrypted if there is a key; null when there is none. */
  readonly stored: string | null;
  /** False until the first code. */
  readonly isEnabled: boolean;
}

/** Reads the columns; undefined for a deleted account. */
export async function findTotp(query: Query, { table }: FactorAccounts, userId: string): Promise<TotpRow | undefined> {
  const [row] = await query<TotpRow>({
    text: `select email, totp_secret as stored, totp_enabled as "isEnabled"
      from ${table} where id = $1`,
    values: [userId],
  });
  return row;
}

/** Stores an unconfirmed app's secret; returns false when an app is in use. */
export async function storeTotp(
  query: Query,
  { table }: FactorAccounts,
  userId: string,
  stored: string,
): Promise<boolean> {
  const rows = await query({
    text: `update ${table} set totp_secret = $2, totp_last_step = null
      where id = $1 and not totp_enabled returning 1`,
    values: [userId, stored],
  });
  return rows.length > 0;
}

/** Locks an account with an app for the rest of the transaction; returns false for one without. */
export async function lockTotp(query: Query, { table }: FactorAccounts, userId: string): Promise<boolean> {
  const rows = await query({
    text: `select 1 from ${table} where id = $1 and totp_enabled for update`,
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

/** Enables the app with its first code; returns false if another request was first. */
export const enableTotp = (query: Query, accounts: FactorAccounts, code: AcceptedCode): Promise<boolean> =>
  changeTotp(query, accounts, code, { set: 'totp_enabled = true, totp_last_step = $3', where: 'not totp_enabled' });

/** Uses up a code, all codes in its step and earlier ones; returns false when it was used before (auth §6.5). */
export const useTotpCode = (query: Query, accounts: FactorAccounts, code: AcceptedCode): Promise<boolean> =>
  changeTotp(query, accounts, code, { set: 'totp_last_step = $3', where: isFresh });

/** Uses up a code and removes the app. */
export const dropTotp = (query: Query, accounts: FactorAccounts, code: AcceptedCode): Promise<boolean> =>
  changeTotp(query, accounts, code, {
    set: 'totp_enabled = false, totp_secret = null, totp_last_step = null',
    where: isFresh,
  });

/** Removes the app without a code; returns false for an account without one. */
export async function resetTotp(query: Query, { table }: FactorAccounts, userId: string): Promise<boolean> {
  const rows = await query({
    text: `update ${table} set totp_enabled = false, totp_secret = null, totp_last_step = null
      where id = $1 and totp_enabled returning 1`,
    values: [userId],
  });
  return rows.length > 0;
}

const isFresh = 'totp_enabled and coalesce(totp_last_step, 0) < $3';

async function changeTotp(
  query: Query,
  { table }: FactorAccounts,
  { userId, stored, step }: AcceptedCode,
  { set, where }: { set: string; where: string },
): Promise<boolean> {
  const rows = await query({
    text: `update ${table} set ${set}
      where id = $1 and totp_secret = $2 and ${where} returning 1`,
    values: [userId, stored, step],
  });
  return rows.length > 0;
}
