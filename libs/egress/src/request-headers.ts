import { EgressFailedError } from './egress-error.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const NOT_IN_A_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
/** Headers that the client sets from the URL and the body, or that change how the connection is read. */
const RESERVED = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Flattens [name, value] pairs into the list that undici sends.
 * Throws EgressFailedError for a reserved or malformed name and for a value with CR, LF or other control characters.
 */
export function toRawHeaders(headers: readonly (readonly [string, string])[]): string[] {
  const raw: string[] = [];
  for (const [name, value] of headers) {
    if (!TOKEN.test(name)) throw invalidHeader(`header name ${JSON.stringify(name)} is not valid`);
    if (RESERVED.has(name.toLowerCase())) throw invalidHeader(`header ${name} may not be set`);
    if (NOT_IN_A_VALUE.test(value)) throw invalidHeader(`header ${name} has a line break or control character`);
    raw.push(name, value);
  }
  return raw;
}

function invalidHeader(message: string): EgressFailedError {
  return new EgressFailedError(message, 'ERR_INVALID_HEADER');
}
