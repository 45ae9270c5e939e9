import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import { readMailbox } from './mailbox.ts';

/** RFC 5321 §4.5.3.1.3: a path has 256 octets, including its two angle brackets. */
const maxBytes = 254;

const tooLong = `must have at most ${maxBytes} bytes`;

/** One `@`, and a dot that neither begins nor ends the domain. It matches the first such dot, so it never backtracks. */
const shape = /^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}][^\s@.\p{Cc}\p{Cs}]*\.[^\s@\p{Cc}\p{Cs}]+$/u;

/** local@domain.tld without white space or control characters, at most 254 bytes in UTF-8 (fields §3.4). */
export const emailAddress = boundedText(maxBytes)
  .refine((text) => Buffer.byteLength(text) <= maxBytes, { error: tooLong, abort: true })
  .regex(shape, 'must look like name@example.com');

/** Returns a made-up address: unique, in a domain that never resolves (auth §1.4, RFC 6761 §6.4). */
export const syntheticAddress = (prefix: string, id: string): string => `${prefix}_${id}@users.invalid`;

/** An account's address in its canonical form, without the spaces around it (fields §3.4). */
export const accountAddress = z
  .string('must be a string')
  .trim()
  .pipe(
    boundedText(maxBytes).transform((text, { issues }) => {
      const read = readMailbox(text);
      if ('address' in read) return read.address;
      issues.push({ code: 'custom', message: read.problem, input: text });
      return z.NEVER;
    }),
  );
