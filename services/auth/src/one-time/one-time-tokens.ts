import { createHash, randomBytes } from 'node:crypto';
import type { Query } from '@recordbus/database';

/** What a one-time token opens; a token of one purpose is none of another. */
export type Purpose = 'verification' | 'password_reset' | 'email_change' | 'otp' | 'mfa' | 'merge';

export interface OneTimeToken {
  readonly purpose: Purpose;
  readonly collectionId: string;
  readonly accountId: string;
  /** What has to be known when the token comes back, such as the address that it was sent to. */
  readonly data?: Readonly<Record<string, unknown>>;
}

interface Issue extends OneTimeToken {
  readonly nowSec: number;
  readonly lifetimeSec: number;
  /** Does it take the place of the account's earlier tokens of this purpose? Yes when not given. */
  readonly replaces?: boolean;
}

/** 256 bits: nothing to guess, so a plain hash is all that is stored. */
const tokenBytes = 32;

/** What is stored of a token. */
export const hashOneTimeToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Issues a token and gives its text, which is known to nobody else. */
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

/** Wrong guesses that a token stands. */
const maxFailures = 5;

const isPresented = `token_hash = $1 and purpose = $2 and collection_id = $3 and expires_at > $4 and failures < ${maxFailures}`;
const valuesOf = ({ token, purpose, collectionId, nowSec }: Presented) => [
  hashOneTimeToken(token),
  purpose,
  collectionId,
  nowSec,
];

/** Looks at a token without using it up; undefined for one that is wrong, used or expired. */
export async function findOneTimeToken(query: Query, presented: Presented): Promise<Found | undefined> {
  const [found] = await query<Found>({
    text: `select account_id as "accountId", data from system.one_time_tokens where ${isPresented}`,
    values: valuesOf(presented),
  });
  return found;
}

/**
 * Looks at a token with which something goes that can be guessed (a code, a password), and counts the guess before it is
 * looked at, so that many at once have no more than the five that a token stands (contract §4). To be called outside
 * the transaction that may roll back, or guesses would be free. Undefined for one that is wrong, used, expired or spent.
 */
export async function guessOneTimeToken(query: Query, presented: Presented): Promise<Found | undefined> {
  const [found] = await query<Found>({
    text: `update system.one_time_tokens set failures = failures + 1 where ${isPresented}
      returning account_id as "accountId", data`,
    values: valuesOf(presented),
  });
  return found;
}
