import { z } from 'zod';
import type { JsonSchema } from './answers.ts';

/** Offsets stay within what PostgreSQL counts. */
const maxPage = 1_000_000_000;

/**
 * Metadata for the schema of a text in a query: the JSON Schema of the value that the text stands for, which is what the
 * description of the API shows. What holds for the text alone is taken out of it.
 */
export const standsFor = (value: JsonSchema) => ({ pattern: undefined, enum: undefined, ...value });

const wholeNumberText = z.string().regex(/^([+-]?\d+)?$/, 'must be a whole number');

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Taken when the parameter is absent, empty, or below the least. */
  readonly otherwise: number;
}

/** A whole number in a query that is brought into its bounds (contract §2, List). */
export const boundedNumber = ({ min, max, otherwise }: Bounds) =>
  wholeNumberText
    .optional()
    .transform((text = '') => (text === '' || Number(text) < min ? otherwise : Math.min(Number(text), max)))
    .meta(standsFor({ type: 'integer', minimum: min, maximum: max, default: otherwise }));

/** `page` and `perPage` as every list reads them (contract §2, List). */
export const pageQuery = z.object({
  page: boundedNumber({ min: 1, max: maxPage, otherwise: 1 }),
  perPage: boundedNumber({ min: 1, max: 1000, otherwise: 30 }),
});

/** A time in a query in unix seconds; absent when empty. */
export const timeSec = z
  .string()
  .regex(/^\d{0,12}$/, 'must be unix seconds')
  .transform((text) => (text === '' ? undefined : Number(text)))
  .optional()
  .meta(standsFor({ type: 'integer', minimum: 0, maximum: 999_999_999_999 }));

/** A finite number in a query; absent when empty. */
export const decimal = z
  .string()
  .regex(/^([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)?$/, 'must be a number')
  .transform((text) => (text === '' ? undefined : Number(text)))
  .optional()
  .meta(standsFor({ type: 'number' }));

/** A switch in a query: `1` or `true`, `0` or `false`. */
export const flag = z
  .enum(['', '0', 'false', '1', 'true'], 'must be 1, true, 0 or false')
  .optional()
  .transform((text) => text === '1' || text === 'true')
  .meta(standsFor({ type: 'boolean', default: false }));

/** Free text in a query; absent when empty (contract §8). */
export const freeText = z
  .string()
  .transform((text) => (text.trim() === '' ? undefined : text))
  .optional();

/** A text that a column has to be, without NUL, which none has; absent when empty. */
export const exactText = z
  .string()
  .refine((text) => !text.includes('\0'), 'must not contain NUL')
  .transform((text) => (text === '' ? undefined : text))
  .optional();
