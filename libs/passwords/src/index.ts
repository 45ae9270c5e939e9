export { createGuessLimit, type GuessLimit, tooManyAttempts } from './guess-limit.ts';
export { oldPasswordGuesses } from './old-password-guesses.ts';
export { createPasswordRules, type PasswordRules } from './password-rules.ts';
