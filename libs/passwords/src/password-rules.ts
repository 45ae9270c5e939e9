import { composedPassword, findPasswordProblem, hashPassword } from '@recordbus/crypto';
import { validationFailed } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import type { Settings } from '@recordbus/settings';
import { isBreached } from './is-breached.ts';

/** The settings' password policy, for passwords that are set (auth §2.1). */
export interface PasswordRules {
  /** Returns what is wrong with a new password, as a message for its field; undefined when it is fine. */
  findProblem(password: string): Promise<string | undefined>;
  /** Hashes a new password. Throws 422 at the field `password` when the rules refuse it, 503 under load. */
  hashNew(password: string): Promise<string>;
}

interface PasswordRulesDeps {
  readonly settings: Pick<Settings, 'get'>;
  readonly log: Logger;
  /** The value in SERVICE_HIBP_URL. */
  readonly breachServiceUrl: string;
}

/** Creates the rules; they follow the settings. */
export function createPasswordRules({ settings, log, breachServiceUrl }: PasswordRulesDeps): PasswordRules {
  async function findProblem(password: string): Promise<string | undefined> {
    const problem = findPasswordProblem(password, {
      minLength: settings.get('password.min_length'),
      requiresUpper: settings.get('password.require_upper'),
      requiresLower: settings.get('password.require_lower'),
      requiresDigit: settings.get('password.require_digit'),
      requiresSymbol: settings.get('password.require_symbol'),
    });
    if (problem || !settings.get('password.hibp_check')) return problem;
    const known = await isBreached(composedPassword(password), breachServiceUrl).catch((error) => {
      // The check fails open: an attacker who can block the service must not be able to block registrations.
      log.warn({ err: error }, 'cannot check the password for breaches; the password is accepted');
      return false;
    });
    return known ? 'is known from a data breach; choose another one' : undefined;
  }

  return {
    findProblem,
    async hashNew(password) {
      const problem = await findProblem(password);
      if (problem) throw validationFailed({ password: problem });
      return hashPassword(password);
    },
  };
}
