import type { Query } from '@recordbus/database';
import type { Mail } from '@recordbus/mail';
import { createGuessLimit } from '@recordbus/passwords';
import type { AuthParts } from '../auth-parts.ts';
import { foldAddress } from '../lockout/fold-address.ts';

/** The kinds of counted mails (identity §6.1). One-time codes have a limit of their own. */
type CountedMail = Exclude<Mail['template'], 'otp' | 'own' | 'change_undo'>;

interface CountedRecipient {
  readonly template: CountedMail;
  readonly to: string;
  readonly accountId: string;
}

/** The limit for an account, and for a recipient over all accounts and collections. */
const limit = { max: 5, windowSec: 15 * 60 };

/**
 * Counts a mail before it is queued; returns false beyond the limit, and the caller then sends none. One statement
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
