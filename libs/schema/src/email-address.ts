import { z } from 'zod';

/**
 * An e-mail address that an account or a field may have: local@domain.tld without whitespace or control characters
 * (interface §2.2), at most 254 characters (RFC 5321 §4.5.3). Spaces around it are taken off.
 */
export const emailAddress = z
  .string('must be a string')
  .trim()
  .max(254, 'must have at most 254 characters')
  .regex(/^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+\.[^\s@\p{Cc}\p{Cs}]+$/u, 'must look like name@example.com');
