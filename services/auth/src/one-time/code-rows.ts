import { randomBytes } from 'node:crypto';
import type { Query } from '@recordbus/database';
import { hashOneTimeToken } from './one-time-tokens.ts';

interface NewCode {
  readonly collectionId: string;
  readonly accountId: string;
  /** The address that it is sent to. The code counts only while the user has it (auth §5.2). */
  readonly email: string;
  readonly codeHash: string;
  readonly nowSec: number;
  readonly expiresAtSec: number;
}

/** Stores a code in place of the account's earlier one; returns its link's token. */
export async function replaceCode(query: Query, code: NewCode): Promise<string> {
  const { collectionId, accountId, email, codeHash, nowSec, expiresAtSec } = code;
  const token = randomBytes(32).toString('base64url');
  await query({
    text: `insert into system.one_time_tokens
        (token_hash, purpose, collection_id, account_id, data, created_at, expires_at)
      values ($1, 'otp', $2, $3, $4, $5, $6)
      on conflict (account_id) where purpose = 'otp' do update set token_hash = excluded.token_hash,
        collection_id = excluded.collection_id, data = excluded.data, failures = 0,
        created_at = excluded.created_at, expires_at = excluded.expires_at`,
    values: [
      hashOneTimeToken(token),
      collectionId,
      accountId,
      JSON.stringify({ email, code_hash: codeHash }),
      nowSec,
      expiresAtSec,
    ],
  });
  return token;
}

/** An account's live code. */
export interface LiveCode {
  readonly tokenHash: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Guess {
  readonly collectionId: string;
  readonly accountId: string;
  readonly nowSec: number;
}

/**
 * Counts a guess at an account's live code and returns the code; undefined when there is none, or after five guesses
 * (auth §5.4). Call it outside a transaction, since a rollback would undo the count.
 */
export async function guessCode(query: Query, guess: Guess): Promise<LiveCode | undefined> {
  const { collectionId, accountId, nowSec } = guess;
  const [code] = await query<LiveCode>({
    text: `update system.one_time_tokens set failures = failures + 1
      where account_id = $1 and purpose = 'otp' and collection_id = $2 and expires_at > $3 and failures < 5
      returning token_hash as "tokenHash", data`,
    values: [accountId, collectionId, nowSec],
  });
  return code;
}

/** How many codes are mailed for an account, for signing in and as a second factor together (auth §5.1). */
export const codesSent = (collectionId: string, accountId: string) => ({
  key: `codes sent ${collectionId} ${accountId}`,
  max: 10,
  windowSec: 10 * 60,
});
