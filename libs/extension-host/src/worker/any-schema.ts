import { z } from '@recordbus/extensions';

/** A schema that an extension declares. Its zod may be another copy. */
export const anySchema = z.custom<z.ZodType>(
  (value) => typeof value === 'object' && value !== null && '_zod' in value,
  'must be a z schema',
);
