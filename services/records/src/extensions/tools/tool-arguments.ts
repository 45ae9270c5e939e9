import { malformed } from '@recordbus/errors';
import { z } from 'zod';

/** A name, or an id. */
export const name = z.string();

/** Text that PostgreSQL can store, of 1 to `maxLength` characters. */
export const plainText = (maxLength: number) =>
  z
    .string('must be text')
    .min(1, 'must not be empty')
    .max(maxLength, `may have at most ${maxLength} characters`)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), 'must be text');

/** A write's values, which extensions' code sends as JSON text. */
export const values = z.string().transform((text): Record<string, unknown> => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed('values must be an object');
  return { ...value };
});
