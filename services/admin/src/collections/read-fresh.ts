import type { Collection, Problems } from '@recordbus/schema';
import { z } from 'zod';

/** Less than a minute is less than a sign-in takes. */
const bounds = { min: 60, max: 31_536_000 } as const;

/** How old a writer's sign-in may be, in seconds (collections §1.8). Null takes a bound away. */
export const freshSeconds = z
  .int('must be a whole number of seconds, or null')
  .min(bounds.min, `must be at least ${bounds.min}`)
  .max(bounds.max, `must be at most ${bounds.max}`)
  .nullish();

/** Reads a definition's bound. Views are not written. */
export function readFresh(
  seconds: number | null | undefined,
  type: Collection['type'],
  problems: Pick<Problems, 'add'>,
): Pick<Collection, 'freshSec'> {
  if (seconds == null) return {};
  if (type === 'view') problems.add('fresh_s', 'is not for views: nobody writes them');
  return { freshSec: seconds };
}
