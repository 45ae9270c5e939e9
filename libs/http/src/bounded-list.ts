import { z } from 'zod';

/**
 * Returns the schema for a list with at most `max` entries. A longer list is refused before its entries are checked:
 * each wrong entry is a separate problem, and half a million crash a process (cost §4.1).
 */
export const boundedList = <T extends z.ZodType>(entry: T, max: number, notAList = 'must be a list') => {
  const list = z.array(entry, notAList).max(max);
  return z.preprocess((given, context) => {
    if (!Array.isArray(given) || given.length <= max) return given;
    context.addIssue(`must have at most ${max} entries`);
    return z.NEVER;
  }, list);
};
