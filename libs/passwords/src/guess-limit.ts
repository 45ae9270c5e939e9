import type { Database } from '@recordbus/database';
import { AppError } from '@recordbus/errors';

/** A kind of guess with its limit. */
export interface Guess {
  /** Names the secret that is guessed and its owner. */
  readonly key: string;
  /** How many tries a window allows. */
  readonly max: number;
  readonly windowSec: number;
}

/** Limits guesses at short secrets over all replicas. Unlike the lockout, no setting switches it off. */
export interface GuessLimit {
  /**
   * Counts a try before it is checked, so that parallel tries cannot exceed the limit. Throws 429 with Retry-After
   * beyond it.
   */
  reserve(guess: Guess): Promise<void>;
  /** Counts a try; returns false beyond the limit. */
  tryReserve(guess: Guess): Promise<boolean>;
  /** Resets the count after a right guess. */
  clear(key: string): Promise<void>;
}

interface GuessLimitDeps {
  readonly database: Pick<Database, 'query'>;
  readonly nowSec: () => number;
}

/** Creates the limit. Its counters share a table with the lockout's, under other keys. */
export function createGuessLimit({ database, nowSec }: GuessLimitDeps): GuessLimit {
  async function tryReserve({ key, max, windowSec }: Guess): Promise<boolean> {
    const now = nowSec();
    const rows = await database.query({
      text: `insert into system.failed_logins as f (key, failures, resets_at) values ($1, 1, $3)
        on conflict (key) do update set
          failures = case when f.resets_at <= $2 then 1 else f.failures + 1 end,
          resets_at = case when f.resets_at <= $2 then $3 else f.resets_at end
        where f.resets_at <= $2 or f.failures < $4
        returning 1`,
      values: [key, now, now + windowSec, max],
    });
    return rows.length > 0;
  }

  return {
    tryReserve,
    async reserve(guess) {
      if (await tryReserve(guess)) return;
      const [row] = await database.query<{ resetsAtSec: number }>({
        text: 'select resets_at as "resetsAtSec" from system.failed_logins where key = $1',
        values: [guess.key],
      });
      const now = nowSec();
      throw tooManyAttempts(row?.resetsAtSec ?? now, now);
    },
    async clear(key) {
      await database.query({ text: 'delete from system.failed_logins where key = $1', values: [key] });
    },
  };
}

/** Returns auth §4.2's 429 with the seconds until `resetsAtSec`. */
export const tooManyAttempts = (resetsAtSec: number, now: number) =>
  new AppError(429, 'too_many_attempts', 'Too many failed attempts. Try again later.', {
    headers: { 'Retry-After': String(Math.max(resetsAtSec - now, 1)) },
  });
