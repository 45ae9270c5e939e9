import { createHash, randomBytes } from 'node:crypto';
import type { Query } from '@recordbus/database';

/** A one-time token's purpose. Purposes are not interchangeable (auth §8.4). */
export type Purpose =
  | 'verification'
  | 'password_reset'
  | 'email_change'
  | 'undo_email_change'
  | 'otp'
  | 'mfa'
  | 'enrollment'
  | 'passkey'
  | 'merge';

export interface OneTimeToken {
  readonly purpose: Purpose;
  readonly collectionId: string;
  readonly accountId: string;
  /** Data for using the token, such as the address that it was sent to. */
  readonly data?: Readonly<Record<string, unknown>>;
}

interface Issue extends OneTimeToken {
  readonly nowSec: number;
  readonly lifetimeSec: number;
  /** Whether it replaces the account's earlier tokens with this purpose; true by default. */
  readonly replaces?: boolean;
}

/** 256 bits cannot be guessed, so the database keeps a plain hash (auth §8.5). */
const tokenBytes = 32;

/** Returns a token's stored form. */
export const hashOneTimeToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Issues a token and returns its text, which is not stored. */
export async function issueOneTimeToken(query: Query, issue: Issue): Promise<string> {
  const { purpose, collectionId, accountId, data = {}, nowSec, lifetimeSec, replaces = true } = issue;
  const token = randomBytes(tokenBytes).toString('base64url');
  const values = [hashOneTimeToken(token), purpose, collectionId, accountId, JSON.stringify(data), nowSec];
  const insert = `insert into system.one_time_tokens
    (token_hash, purpose, collection_id, account_id, data, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)`;
  await query({
    text: replaces
      ? `with earlier as (delete from system.one_time_tokens where account_id = $4 and purpose = $2) ${insert}`
      : insert,
    values: [...values, nowSec + lifetimeSec],
  });
  return token;
}

interface Presented {
  readonly purpose: Purpose;
  readonly collectionId: string;
  readonly token: string;
  readonly nowSec: number;
}

type Found = Pick<OneTimeToken, 'accountId'> & { readonly data: Readonly<Record<string, unknown>> };

/** How many guesses leave a token dead. */
const maxFailures = 5;

const isPresented = `token_hash = $1 and purpose = $2 and collection_id = $3 and expires_at > $4 and failures < ${maxFailures}`;
const valuesOf = ({ token, purpose, collectionId, nowSec }: Presented) => [
  hashOneTimeToken(token),
  purpose,
  collectionId,
  nowSec,
];

/** Finds a token without using it up; undefined for a wrong, used or expired one. */
export async function findOneTimeToken(query: Query, presented: Presented): Promise<Found | undefined> {
  const [found] = await query<Found>({
    text: `select account_id as "accountId", data from system.one_time_tokens where ${isPresented}`,
    values: valuesOf(presented),
  });
  return found;
}

/**
 * Finds a token that comes with a guessable secret (a code, a password). It counts the guess before the check, so that
 * parallel guesses stay within five (auth §6.6, oauth §5.3). Call it outside the transaction, since a rollback would
 * undo the count. Returns undefined for a wrong, used, expired or dead token.
 */
export async function guessOneTimeToken(query: Query, presented: Presented): Promise<Found | undefined> {
  const [found] = await query<Found>({
    text: `update system.one_time_tokens set failures = failures + 1 where ${isPresented}
      returning account_id as "accountId", data`,
    values: valuesOf(presented),
  });
  return found;
}
