import { z } from 'zod';

/** An address that an account may have: local@domain.tld without whitespace, at most 254 characters (RFC 5321 §4.5.3). */
export const emailAddress = z
  .string('must be a string')
  .trim()
  .max(254, 'must have at most 254 characters')
  .regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'must look like name@example.com');
