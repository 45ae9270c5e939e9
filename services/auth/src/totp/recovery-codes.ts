import { randomBytes, randomInt } from 'node:crypto';
import { slowDigest } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';

/** auth §6.7 */
const count = 10;
const length = 8;
/** Without characters that look alike on paper. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const saltBytes = 16;

/** A set of codes: the texts for its owner, and the digests and the salt that are stored. */
export interface RecoverySet {
  readonly codes: readonly string[];
  readonly digests: readonly string[];
  readonly salt: Buffer;
}

/** Creates a set of recovery codes. */
export async function createRecoverySet(): Promise<RecoverySet> {
  const codes = new Set<string>();
  while (codes.size < count) codes.add(newCode());
  const salt = randomBytes(saltBytes);
  return { codes: [...codes], salt, digests: await Promise.all([...codes].map((code) => slowDigest(code, salt))) };
}

const newCode = (): string => Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');

interface Owner {
  readonly collectionId: string;
  readonly accountId: string;
}

/** Replaces the stored set. */
export async function replaceRecoveryCodes(
  query: Query,
  { collectionId, accountId }: Owner,
  { digests, salt }: RecoverySet,
): Promise<void> {
  await removeRecoveryCodes(query, accountId);
  await query({
    text: `insert into system.recovery_codes (collection_id, account_id, digest, salt)
      select $1, $2, digest, $3 from unnest($4::text[]) as given (digest)`,
    values: [collectionId, accountId, salt.toString('hex'), digests],
  });
}

/** Deletes an account's set. */
export async function removeRecoveryCodes(query: Query, accountId: string): Promise<void> {
  await query({ text: 'delete from system.recovery_codes where account_id = $1', values: [accountId] });
}

/** Returns a typed code's digest, without dashes and case; undefined without a set or for another length. */
export async function digestTypedCode(query: Query, accountId: string, typed: string): Promise<string | undefined> {
  const [row] = await query<{ salt: string }>({
    text: 'select salt from system.recovery_codes where account_id = $1 limit 1',
    values: [accountId],
  });
  const code = typed.toUpperCase().replace(/[^A-Z0-9]/g, '');
  if (!row || code.length !== length) return undefined;
  return slowDigest(code, Buffer.from(row.salt, 'hex'));
}

/** Uses up a code. Exactly one of several parallel calls returns true (auth §8.5). */
export async function useRecoveryCode(
  query: Query,
  { accountId, digest, nowSec }: { accountId: string; digest: string; nowSec: number },
): Promise<boolean> {
  const rows = await query({
    text: `update system.recovery_codes set used_at = $3
      where account_id = $1 and digest = $2 and used_at is null returning 1`,
    values: [accountId, digest, nowSec],
  });
  return rows.length > 0;
}

/** Counts the set's codes and the unused ones. */
export async function countRecoveryCodes(query: Query, accountId: string) {
  const [row] = await query<{ total: number; remaining: number }>({
    text: `select count(*) as total, count(*) filter (where used_at is null) as remaining
      from system.recovery_codes where account_id = $1`,
    values: [accountId],
  });
  return row ?? { total: 0, remaining: 0 };
}
