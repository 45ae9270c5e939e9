import type { AuthParts } from '../auth-parts.ts';
import type { FactorAccounts } from './factor-accounts.ts';

/** auth §6.6 */
const limit = { max: 10, windowSec: 15 * 60 };

/** Limits the second factors that are tried for an account. Reserve a try before it is checked. */
export function limitSecondFactors(
  { guessLimit }: Pick<AuthParts, 'guessLimit'>,
  { realm }: FactorAccounts,
  accountId: string,
) {
  const key = `second factors ${realm} ${accountId}`;
  return {
    /** Throws 429 beyond the limit. */
    reserve: () => guessLimit.reserve({ key, ...limit }),
    clear: () => guessLimit.clear(key),
  };
}
