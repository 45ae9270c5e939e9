import { isDeepStrictEqual } from 'node:util';
import type { Collection } from '@recordbus/schema';

/** Whether two definitions are equal, apart from when they last changed. */
export const isSameDefinition = (a: Collection, b: Collection): boolean =>
  isDeepStrictEqual({ ...a, updatedAtSec: 0 }, { ...b, updatedAtSec: 0 });
