import { AppError } from '@recordbus/errors';

const maxLength = 50;

/**
 * Returns a body's encoding by the `charset` in its content type, as the WHATWG Encoding Standard names it; undefined
 * without one. Throws 415 for an unknown charset.
 */
export function readCharset(contentType: string | undefined): string | undefined {
  const [, charset = ''] = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType ?? '') ?? [];
  if (charset === '') return undefined;
  // ASCII is part of UTF-8, and the standard would take it for Windows-1252.
  if (/^us-ascii$/i.test(charset)) return 'utf-8';
  try {
    return new TextDecoder(charset).encoding;
  } catch {
    throw new AppError(415, 'unsupported_media_type', `the charset ${charset.slice(0, maxLength)} is not known`);
  }
}
