import type { Guess } from './guess-limit.ts';

/**
 * How often the old password of an account may be tried by whoever has one of its sessions: wherever a new one is set,
 * these tries count together, also while the lockout is off.
 */
export const oldPasswordGuesses = (accountId: string): Guess => ({
  key: `old password ${accountId}`,
  max: 10,
  windowSec: 900,
});
