import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';

/** Contract §4: an account takes ten wrong second factors in 15 minutes. */
const limit = { max: 10, windowSec: 15 * 60 };

/** Counts the second factors that are tried for an account; a try is reserved before it is looked at. */
export function limitSecondFactors(
  { guessLimit }: Pick<AuthParts, 'guessLimit'>,
  collection: Collection,
  userId: string,
) {
  const key = `second factors ${collection.id} ${userId}`;
  return {
    /** Throws 429 when there were too many. */
    reserve: () => guessLimit.reserve({ key, ...limit }),
    clear: () => guessLimit.clear(key),
  };
}
