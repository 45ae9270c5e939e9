import type { Guess } from './guess-limit.ts';

/**
 * The limit on guesses at an account's old password. All routes that ask for it share one count, even while the lockout
 * is off (auth §2.4).
 */
export const oldPasswordGuesses = (accountId: string): Guess => ({
  key: `old password ${accountId}`,
  max: 10,
  windowSec: 900,
});
