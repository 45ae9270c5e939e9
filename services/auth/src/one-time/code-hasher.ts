import { createHmac, hkdfSync } from 'node:crypto';

/** What is stored of a short code: of a million codes a plain hash would give each away to whoever reads the database. */
export type CodeHasher = (accountId: string, code: string) => string;

/** Makes the hasher; its key comes of the secret that signs tokens, which is not in the database. */
export function createCodeHasher(secret: Uint8Array): CodeHasher {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'recordbus one-time codes', 32));
  return (accountId, code) => createHmac('sha256', key).update(`${accountId}\n${code}`).digest('hex');
}
