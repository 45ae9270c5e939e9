import { boundedText } from '@recordbus/text/bounded-text';

/** Labels with letters, digits and hyphens (RFC 1123 §2.1), and a port. */
const hostPattern = /^(?=[a-z0-9])[a-z0-9.-]+(?<![.-])(:[1-9]\d{0,4})?$/;

/** A host, and its port if it is not a usual one. */
export const hostName = boundedText(260)
  .transform((text) => text.toLowerCase())
  .refine(
    (text) => hostPattern.test(text) && URL.canParse(`http://${text}`),
    'must be a host such as files.example.com, with its port if it is not 80 or 443, and without https://',
  )
  .transform((text) => text.replace(/:(80|443)$/, ''))
  .describe('a host, and its port');
