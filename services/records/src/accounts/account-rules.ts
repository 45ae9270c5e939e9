import type { GuessLimit, PasswordRules } from '@recordbus/passwords';

/** What credential writes are checked against. */
export interface AccountRules {
  readonly passwords: PasswordRules;
  readonly guessLimit: GuessLimit;
  /** The time in unix seconds. */
  readonly nowSec: () => number;
}
