import { createHmac, hkdfSync } from 'node:crypto';

/**
 * Creates the function that returns what takes the place of an erased record's id in the audit log: the same for all rows
 * of a record, and only the holder of the token secret can compute it from an id.
 */
export function createHashOfErased(secret: Uint8Array): (recordId: string) => string {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'recordbus erased ids', 32));
  return (recordId) => `erased:${createHmac('sha256', key).update(recordId).digest('base64url').slice(0, 27)}`;
}
