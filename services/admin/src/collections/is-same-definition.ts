import { isDeepStrictEqual } from 'node:util';
import type { Collection } from '@recordbus/schema';

/** Do the two say the same but for the time of their last change? */
export const isSameDefinition = (a: Collection, b: Collection): boolean =>
  isDeepStrictEqual({ ...a, updatedAtSec: 0 }, { ...b, updatedAtSec: 0 });
