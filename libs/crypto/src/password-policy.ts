import { composedPassword, maxPasswordBytes } from './password-form.ts';

/** The requirements for a new password (auth §2.1). A login never checks them. */
interface PasswordPolicy {
  /** In characters (code points); a value below the floor of 8 counts as 8. */
  readonly minLength: number;
  readonly requiresUpper?: boolean;
  readonly requiresLower?: boolean;
  readonly requiresDigit?: boolean;
  /** A character that is neither letter nor digit. */
  readonly requiresSymbol?: boolean;
}

const defaultPasswordPolicy: PasswordPolicy = { minLength: 12 };

const floorLength = 8;

/** Returns what is wrong with a new password, as a message for its field; undefined when it is fine. */
export function findPasswordProblem(sent: string, policy = defaultPasswordPolicy): string | undefined {
  if (Buffer.byteLength(sent) > maxPasswordBytes) return `must have at most ${maxPasswordBytes} bytes`;
  if (!sent.isWellFormed()) return 'has half a character (a lone surrogate)';
  const password = composedPassword(sent);
  const minLength = Math.max(policy.minLength, floorLength);
  if ([...password.slice(0, 2 * minLength)].length < minLength) return `must have at least ${minLength} characters`;
  if (policy.requiresUpper && !/\p{Lu}/u.test(password)) return 'must contain an upper-case letter';
  if (policy.requiresLower && !/\p{Ll}/u.test(password)) return 'must contain a lower-case letter';
  if (policy.requiresDigit && !/\p{Nd}/u.test(password)) return 'must contain a digit';
  if (policy.requiresSymbol && !/[^\p{L}\p{N}]/u.test(password))
    return 'must contain a character that is neither a letter nor a digit';
  return undefined;
}
