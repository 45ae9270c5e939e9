import { z } from 'zod';

/**
 * Returns the schema for a text with at most `maxLength` UTF-16 code units. A longer text is refused at once, before
 * any pattern, refinement or transformation in the schema runs (cost §4.1).
 */
export const boundedText = (maxLength: number, notAString = 'must be a string') =>
  z.string(notAString).max(maxLength, { error: `must have at most ${maxLength} characters`, abort: true });
