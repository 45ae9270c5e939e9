import { randomBytes, randomInt } from 'node:crypto';
import { slowDigest } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';

/** Interface §5: ten codes of eight characters. */
const count = 10;
const length = 8;
/** Without what is taken for something else when it is read from paper. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const saltBytes = 16;

/** A set of codes as its owner gets it, once, and as it is stored. */
export interface RecoverySet {
  readonly codes: readonly string[];
  readonly digests: readonly string[];
  readonly salt: Buffer;
}

/** Makes a set of recovery codes. */
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

/** Stores a set in place of the one before. */
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

/** Forgets a set. */
export async function removeRecoveryCodes(query: Query, accountId: string): Promise<void> {
  await query({ text: 'delete from system.recovery_codes where account_id = $1', values: [accountId] });
}

/** The digest by which a code that was typed, dashes and case aside, is found in the account's set, if it has one. */
export async function digestOfTyped(query: Query, accountId: string, typed: string): Promise<string | undefined> {
  const [row] = await query<{ salt: string }>({
    text: 'select salt from system.recovery_codes where account_id = $1 limit 1',
    values: [accountId],
  });
  const code = typed.toUpperCase().replace(/[^A-Z0-9]/g, '');
  if (!row || code.length !== length) return undefined;
  return slowDigest(code, Buffer.from(row.salt, 'hex'));
}

/** Uses a code up: of several at once exactly one gets true. */
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

/** How many codes the set has, and how many of them are not used. */
export async function countRecoveryCodes(query: Query, accountId: string) {
  const [row] = await query<{ total: number; remaining: number }>({
    text: `select count(*) as total, count(*) filter (where used_at is null) as remaining
      from system.recovery_codes where account_id = $1`,
    values: [accountId],
  });
  return row ?? { total: 0, remaining: 0 };
}
