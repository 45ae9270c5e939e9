import { malformed } from '@recordbus/errors';
import { z } from 'zod';

/** A name, or an id. */
export const name = z.string();

/** A write's values, which extensions' code sends as JSON text. */
export const values = z.string().transform((text): Record<string, unknown> => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed('values must be an object');
  return { ...value };
});
