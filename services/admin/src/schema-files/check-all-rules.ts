import type { Collection, Problems } from '@recordbus/schema';
import { checkRules } from '../collections/check-rules.ts';

/** Adds to `problems` every rule that cannot be evaluated with the collections. */
export const checkAllRules = (collections: readonly Collection[], problems: Problems): Promise<void> =>
  checkRules(undefined, collections, { add: (place, message) => problems.add(`collections.${place}`, message) });
