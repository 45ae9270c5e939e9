import type { Query } from '@recordbus/database';
import type { Mail } from '@recordbus/mail';
import { createGuessLimit } from '@recordbus/passwords';
import type { AuthParts } from '../auth-parts.ts';
import { foldAddress } from '../lockout/fold-address.ts';

/** The mails that anyone may request for an address (identity §6.1). One-time codes have their own limit. */
type RequestedMail = 'verify' | 'reset' | 'change';

interface CountedRecipient<T extends Mail['template'] = RequestedMail> {
  readonly template: T;
  readonly to: string;
  readonly accountId: string;
}

/** A notice about a change that an account has made (identity §6.2). */
interface CountedNotice
  extends CountedRecipient<'change_notice' | 'change_undo' | 'password_notice' | 'removed_notice'> {
  readonly collectionId: string;
  /** Whether the account had proved the address. */
  readonly isProved: boolean;
}

/** The limit for an account, and for a recipient over all accounts and collections. */
const limit = { max: 5, windowSec: 15 * 60 };

/**
 * Counts a mail before it is queued; returns false beyond the limit, in which case the caller sends none. One statement
 * changes a counter, so parallel requests on any replica get no more mails. Run it in the transaction that queues the
 * mail, so that a mail that is rolled back does not count (identity §6.3).
 */
export async function reserveMail(
  query: Query,
  { nowSec }: Pick<AuthParts, 'nowSec'>,
  { template, to, accountId }: CountedRecipient,
): Promise<boolean> {
  const { tryReserve } = createGuessLimit({ database: { query }, nowSec });
  if (!(await tryReserve({ key: `mails ${template} of ${accountId}`, ...limit }))) return false;
  return tryReserve({ key: `mails ${template} to ${foldAddress(to)}`, ...limit });
}

/**
 * Counts a notice in the same way. Other accounts' changes never suppress it: a proved address is counted for its
 * account only, any other for its collection, in which no other account has it. The address is not folded here, so that
 * others' similar addresses do not count (identity §6.2).
 */
export async function reserveNotice(
  query: Query,
  { nowSec }: Pick<AuthParts, 'nowSec'>,
  { template, to, accountId, collectionId, isProved }: CountedNotice,
): Promise<boolean> {
  const { tryReserve } = createGuessLimit({ database: { query }, nowSec });
  if (!(await tryReserve({ key: `mails ${template} of ${accountId}`, ...limit }))) return false;
  return isProved || tryReserve({ key: `mails ${template} to ${to.toLowerCase()} in ${collectionId}`, ...limit });
}
