import type { JsonSchema } from '@recordbus/http';
import { z } from 'zod';
import { type Narrowing, ValueRefusal } from '../field-type.ts';

/** The options for every type that bounds its texts. Lengths count characters, which are code points (fields §2.4). */
export const lengthOptions = {
  min: z.int('must be a whole number').min(0, 'must not be negative').optional(),
  max: z.int('must be a whole number').min(1, 'must be at least 1').optional(),
};

interface Lengths {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** Whether `min` is not above `max`. The first argument to `refine`. */
export const isOrdered = ({ min, max }: Lengths): boolean => min === undefined || max === undefined || min <= max;

/** The second argument to `refine`. */
export const notOrdered = { path: ['min'], message: 'must not be above max' };

/** Builds the check for a text's length. */
export function compileLengths({
  min = 0,
  max = Number.POSITIVE_INFINITY,
}: Lengths): (text: string) => ValueRefusal | undefined {
  const isFree = min === 0 && max === Number.POSITIVE_INFINITY;
  return (text) => {
    if (isFree) return undefined;
    const length = countCharacters(text);
    if (length < min) return new ValueRefusal(`must have at least ${min} characters`);
    return length > max ? new ValueRefusal(`must have at most ${max} characters`) : undefined;
  };
}

/** The bounds as JSON Schema, whose lengths are characters too (JSON Schema Validation §6.3). */
export const lengthSchema = ({ min, max }: Lengths): JsonSchema => ({
  ...(min !== undefined && { minLength: min }),
  ...(max !== undefined && { maxLength: max }),
});

/**
 * Returns the restrictions that stored texts may violate when the bounds change. They exempt empty texts (fields §2.2).
 */
export function lengthNarrowings(before: Lengths, after: Lengths, column: string): Narrowing[] {
  const { min = 0, max } = after;
  const narrowings: Narrowing[] = [];
  if (min > (before.min ?? 0))
    narrowings.push({ option: 'min', where: `${column} <> '' and char_length(${column}) < ${min}` });
  if (max !== undefined && max < (before.max ?? Number.POSITIVE_INFINITY))
    narrowings.push({ option: 'max', where: `char_length(${column}) > ${max}` });
  return narrowings;
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
