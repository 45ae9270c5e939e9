import type { Database } from '@recordbus/database';
import { AppError } from '@recordbus/shared/errors';

/** What may be tried only so often. */
export interface Guess {
  /** What is guessed at: the subject of the guess and whose it is. */
  readonly key: string;
  /** Tries in a window. */
  readonly max: number;
  readonly windowSec: number;
}

/** Limits how often short codes are guessed at, over all replicas; always on, other than the lockout. */
export interface GuessLimit {
  /**
   * Counts a try before it is looked at, so that many at once can't pass together. Throws 429 with Retry-After when
   * there were too many.
   */
  reserve(guess: Guess): Promise<void>;
  /** Counts a try; false when there were too many. */
  tryReserve(guess: Guess): Promise<boolean>;
  /** The try was right: nothing counts any more. */
  clear(key: string): Promise<void>;
}

interface GuessLimitDeps {
  readonly database: Pick<Database, 'query'>;
  readonly nowSec: () => number;
}

/** Makes the limit. Its counters stand beside those of the lockout, under keys of their own. */
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

/** 429 until the given time (interface §5). */
export const tooManyAttempts = (resetsAtSec: number, now: number) =>
  new AppError(429, 'too_many_attempts', 'Too many failed attempts. Try again later.', {
    headers: { 'Retry-After': String(Math.max(resetsAtSec - now, 1)) },
  });
