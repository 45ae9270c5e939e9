import { validateCidrList } from '@recordbus/egress/cidr';
import { urlOf, wholeNumber } from '@recordbus/process/config';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';

/** `0` or `1`. */
export const flag = z.enum(['0', '1'], 'must be "0" or "1"').transform((text) => text === '1');

/** A whole number between two bounds, both allowed; one below `floor` counts as `floor`. */
export const numberWithFloor = (floor: number, max: number) =>
  wholeNumber(0, max).transform((value) => Math.max(floor, value));

/** One line of text, at most `maxLength` characters, safe in a header. */
export const line = (maxLength: number) =>
  boundedText(maxLength).regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'must be one line without control characters');

/** Text with several lines. */
export const block = (maxLength: number) =>
  boundedText(maxLength)
    .regex(/^(?:[^\p{Cc}]|[\t\n\r])*$/u, 'must not contain control characters')
    .describe('text with several lines');

/** Another system's key, token or identifier: visible ASCII, safe in a header. */
export const opaque = boundedText(4096).regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without spaces');

/** A client's id or secret: visible ASCII and spaces (VSCHAR in RFC 6749 appendix A). */
export const clientCredential = boundedText(4096).regex(
  /^[\x20-\x7e]+$/,
  'must be visible ASCII characters and spaces',
);

/** A language tag (BCP 47). */
export const languageTag = boundedText(35).regex(
  /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/,
  'must be a language tag, such as en or pt-BR',
);

/** An absolute http or https URL. */
export const httpUrl = boundedText(2048)
  .regex(/^[^\s\\]+$/, 'must not contain spaces or backslashes')
  .pipe(urlOf('http', 'https'));

/** A theme colour. */
export const hexColour = z
  .string()
  .regex(/^#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i, 'must be a colour as #RGB, #RRGGBB or #RRGGBBAA');

/** A comma-separated list's entries, trimmed, without empty ones. */
export const commaList = z.string().transform((text): readonly string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

/** Comma-separated CIDRs and single addresses. */
export const cidrList = refusedBy(validateCidrList).describe('CIDR ranges and addresses');

/** A text that the check accepts. The check returns a refusal's message. */
export function refusedBy(check: (text: string) => string | undefined) {
  return z.string().superRefine((text, context) => {
    const message = check(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

/** An unencrypted private key as PEM text. The value has line breaks in place of a pasted `\n`. */
export const privateKeyPem = boundedText(16_384)
  .transform((text) => text.replaceAll('\\n', '\n').replaceAll('\r\n', '\n').trim())
  .refine(
    (text) => /^-----BEGIN ((?:EC |RSA )?PRIVATE KEY)-----\n[A-Za-z0-9+/=\n]+\n-----END \1-----$/.test(text),
    'must be a private key in PEM form (-----BEGIN PRIVATE KEY----- … -----END PRIVATE KEY-----)',
  );
