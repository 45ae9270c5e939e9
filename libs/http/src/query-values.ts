import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import type { JsonSchema } from './answers.ts';

/** Keeps offsets within PostgreSQL's bigint. */
const maxPage = 1_000_000_000;

/**
 * Returns metadata for the schema of a text in a query: the JSON Schema of the parsed value, which the description of
 * the API shows. Constraints of the text alone are removed.
 */
export const describedAs = (value: JsonSchema) => ({
  pattern: undefined,
  enum: undefined,
  maxLength: undefined,
  ...value,
});

/** A number's longest text. Longer texts are refused before they are parsed. */
const maxNumberLength = 1000;

const wholeNumberText = boundedText(maxNumberLength).regex(/^([+-]?\d+)?$/, 'must be a whole number');

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Used when the parameter is absent, empty, or below `min`. */
  readonly otherwise: number;
}

/** Returns the schema for a whole number in a query, which is clamped to its bounds (http §3.3). */
export const boundedNumber = ({ min, max, otherwise }: Bounds) =>
  wholeNumberText
    .optional()
    .transform((text = '') => (text === '' || Number(text) < min ? otherwise : Math.min(Number(text), max)))
    .meta(describedAs({ type: 'integer', description: clampedWords({ min, max, otherwise }), default: otherwise }));

/** The bounds in words: as schema limits they would say that other numbers are refused. */
const clampedWords = ({ min, max, otherwise }: Bounds): string =>
  `from ${min} to ${max}; a larger number counts as ${max}, a smaller one as ${otherwise}`;

/** Every list's `page` and `perPage` (http §3.3). */
export const pageQuery = z.object({
  page: boundedNumber({ min: 1, max: maxPage, otherwise: 1 }),
  perPage: boundedNumber({ min: 1, max: 1000, otherwise: 30 }),
});

/** A time in a query in unix seconds; absent when empty. */
export const timeSec = boundedText(maxNumberLength)
  .regex(/^\d{0,12}$/, 'must be unix seconds')
  .transform((text) => (text === '' ? undefined : Number(text)))
  .optional()
  .meta(describedAs({ type: 'integer', minimum: 0, maximum: 999_999_999_999 }));

/** A finite number in a query; absent when empty. */
export const decimal = boundedText(maxNumberLength)
  .regex(/^([+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)?$/, 'must be a number')
  .transform((text) => (text === '' ? undefined : Number(text)))
  .optional()
  .meta(describedAs({ type: 'number' }));

/** A switch in a query: `1` or `true`, `0` or `false`. */
export const flag = z
  .enum(['', '0', 'false', '1', 'true'], 'must be 1, true, 0 or false')
  .optional()
  .transform((text) => text === '1' || text === 'true')
  .meta(describedAs({ type: 'boolean', default: false }));

/** Free text in a query; absent when empty (http §2.5). */
export const freeText = z
  .string()
  .transform((text) => (text.trim() === '' ? undefined : text))
  .optional();

/** A text to compare with a column, so without NUL; absent when empty. */
export const exactText = z
  .string()
  .refine((text) => !text.includes('\0'), 'must not contain NUL')
  .transform((text) => (text === '' ? undefined : text))
  .optional();
