import { createHmac, hkdfSync } from 'node:crypto';

/**
 * Returns a short code's stored form. It is not a plain hash, because a reader with the database could try all million
 * codes.
 */
export type CodeHasher = (accountId: string, code: string) => string;

/** Creates the hasher (auth §5.2). Its key is derived from the token secret, which is not in the database. */
export function createCodeHasher(secret: Uint8Array): CodeHasher {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'recordbus one-time codes', 32));
  return (accountId, code) => createHmac('sha256', key).update(`${accountId}\n${code}`).digest('hex');
}
