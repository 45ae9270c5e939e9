import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';

/** auth §6.6 */
const limit = { max: 10, windowSec: 15 * 60 };

/** Limits the second factors that are tried for an account. Reserve a try before it is checked. */
export function limitSecondFactors(
  { guessLimit }: Pick<AuthParts, 'guessLimit'>,
  collection: Collection,
  userId: string,
) {
  const key = `second factors ${collection.id} ${userId}`;
  return {
    /** Throws 429 beyond the limit. */
    reserve: () => guessLimit.reserve({ key, ...limit }),
    clear: () => guessLimit.clear(key),
  };
}
