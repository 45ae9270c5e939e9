import { z } from 'zod';

/** A whole number in a query; absent when empty. */
export const wholeNumber = z
  .string()
  .regex(/^([+-]?\d+)?$/, 'must be a whole number')
  .transform((text) => (text === '' ? undefined : Number(text)))
  .optional();

/** A switch in a query: `1` or `true`, `0` or `false`. */
export const flag = z
  .enum(['', '0', 'false', '1', 'true'], 'must be 1, true, 0 or false')
  .transform((text) => text === '1' || text === 'true')
  .default(false);

/** Free text in a query; absent when empty (contract §8). */
export const text = z
  .string()
  .transform((value) => (value.trim() === '' ? undefined : value))
  .optional();

/** A finite number in a query; absent when empty. */
export const decimal = z
  .string()
  .regex(/^([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)?$/, 'must be a number')
  .transform((text) => (text === '' ? undefined : Number(text)))
  .optional();
