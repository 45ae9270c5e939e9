import type { GuessLimit, PasswordRules } from '@recordbus/passwords';

/** What a write of a user's credentials is measured by. */
export interface AccountRules {
  readonly passwords: PasswordRules;
  readonly guessLimit: GuessLimit;
}
