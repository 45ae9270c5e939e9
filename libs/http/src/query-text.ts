import { malformed } from '@recordbus/errors';

/** What `URLSearchParams` puts in place of bytes that are not UTF-8. */
const replaced = '\ufffd';

/**
 * Reads a query's text (without the question mark). Throws 400 for a name or value whose bytes are not UTF-8 (http
 * §2.5).
 */
export function parseQuery(search: string): URLSearchParams {
  const query = new URLSearchParams(search);
  for (const [name, value] of query) if (name.includes(replaced) || value.includes(replaced)) refuseOtherBytes(search);
  return query;
}

/** The replacement character is fine where the client itself wrote it. */
function refuseOtherBytes(search: string): void {
  for (const pair of search.split('&'))
    if (!isUtf8(pair)) {
      const name = [...new URLSearchParams(pair).keys()][0] ?? '';
      throw malformed(`${name}: is not valid UTF-8 in percent-encoding`, { [name]: 'is not valid UTF-8' });
    }
}

function isUtf8(encoded: string): boolean {
  const bytes = Buffer.from(encoded).toString('latin1');
  const decoded = bytes.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(decoded, 'latin1'));
    return true;
  } catch {
    return false;
  }
}
