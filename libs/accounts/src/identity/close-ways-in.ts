import type { Query } from '@recordbus/database';
import type { Removable, RemovedWays } from './account-changes.ts';
import type { LockedAccount } from './locked-account.ts';
import type { Undone } from './undone-change.ts';

/** A change's members that decide about other ways into the account. */
interface Closing {
  readonly passwordHash?: string | null | undefined;
  readonly closesOtherWaysIn?: boolean | undefined;
  readonly closesAttached?: boolean | undefined;
  readonly undoes?: Undone | undefined;
}

/** The ways into an account that a change closes. */
export interface ClosedWays {
  /** Whether the password is removed. */
  readonly password: boolean;
  /** Whether the authenticator app is removed, including an unconfirmed one. */
  readonly factor: boolean;
  /** Links to providers, and passkeys. */
  readonly links: 'all' | 'since the change' | 'none';
}

/**
 * Returns the ways in that a change closes. If the address is already proved, the change is not a first proof and
 * closes nothing.
 */
export function closedBy(change: Closing, held: LockedAccount): ClosedWays {
  // With `closesOtherWaysIn` the undo is the old address's first proof.
  if (change.undoes && !change.closesOtherWaysIn) return { password: false, factor: false, links: 'since the change' };
  const isStrict = change.closesOtherWaysIn === true && !held.verified;
  const isFirst = isStrict || (change.closesAttached === true && !held.verified);
  return {
    password: isStrict && !change.passwordHash,
    factor: isFirst && !held.wasEverProved,
    links: isFirst ? 'all' : 'none',
  };
}

/**
 * Removes the closed ways from other tables, and returns what the account loses. The caller has locked the account, and
 * writes its row afterwards.
 */
export async function closeWaysIn(
  query: Query,
  accountId: string,
  closed: ClosedWays,
  held: LockedAccount,
  sinceSec: number,
): Promise<RemovedWays> {
  const fromSec = closed.links === 'since the change' ? sinceSec : 0;
  const providers = closed.links === 'none' ? [] : await removeLinks(query, accountId, fromSec);
  const hadPasskeys = closed.links !== 'none' && (await removePasskeys(query, accountId, fromSec));
  if (closed.links === 'all') await dropPendingLinks(query, accountId);
  if (closed.factor)
    await query({ text: 'delete from system.recovery_codes where account_id = $1', values: [accountId] });
  const removed: Removable[] = [];
  if (closed.password && held.hasPassword) removed.push('password');
  if (closed.factor && held.totpEnabled) removed.push('totp');
  if (providers.length > 0) removed.push('links');
  if (hadPasskeys) removed.push('passkeys');
  return { removed, providers };
}

/** Removes the links created at `sinceSec` or later. Returns their providers. */
async function removeLinks(query: Query, accountId: string, sinceSec: number): Promise<string[]> {
  const rows = await query<{ provider: string }>({
    text: 'delete from system.oauth_links where account_id = $1 and created_at >= $2 returning provider',
    values: [accountId, sinceSec],
  });
  return [...new Set(rows.map(({ provider }) => provider))].toSorted();
}

/** Removes the passkeys created at `sinceSec` or later; returns whether there were any. */
async function removePasskeys(query: Query, accountId: string, sinceSec: number): Promise<boolean> {
  const rows = await query({
    text: 'delete from system.passkeys where account_id = $1 and created_at >= $2 returning 1',
    values: [accountId, sinceSec],
  });
  return rows.length > 0;
}

/** Drops links, passkeys and address changes that began before the proof, so that they cannot be completed after it. */
async function dropPendingLinks(query: Query, accountId: string): Promise<void> {
  await query({
    text: `delete from system.one_time_tokens where account_id = $1 and purpose in ('merge', 'mfa', 'passkey', 'email_change')`,
    values: [accountId],
  });
}
