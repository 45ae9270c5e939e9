import { findPasswordProblem, hashPassword } from '@recordbus/crypto';
import type { Settings } from '@recordbus/settings';
import { validationFailed } from '@recordbus/shared/errors';
import type { Logger } from '@recordbus/shared/logging';
import { isBreached } from './is-breached.ts';

/** What the settings ask of a password that is set (interface §2.7); nobody asks it at login. */
export interface PasswordRules {
  /** What is wrong with a new password, as a message for its field; undefined when nothing is. */
  findProblem(password: string): Promise<string | undefined>;
  /** The hash of a new password. Throws 422 naming the field `password` for one that the rules refuse. */
  hashNew(password: string): Promise<string>;
}

interface PasswordRulesDeps {
  readonly settings: Pick<Settings, 'get'>;
  readonly log: Logger;
  /** The value of SERVICE_HIBP_URL. */
  readonly breachServiceUrl: string;
}

/** Makes the rules; they follow the settings. */
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
    const known = await isBreached(password, breachServiceUrl).catch((error) => {
      // The check fails open: whoever can break it must not be able to stop people from registering.
      log.warn({ err: error }, 'the service of breached passwords does not answer; the password is taken');
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
