import type { AccountHooks } from '@recordbus/accounts';
import type { Bus } from '@recordbus/bus';
import type { Captchas } from '@recordbus/captcha';
import type { ValueCipher } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import type { GuessLimit, PasswordRules } from '@recordbus/passwords';
import type { Logger } from '@recordbus/process/logging';
import type { QuerySchema } from '@recordbus/query';
import type { RequestContext } from '@recordbus/request/context';
import type { FieldEncryption } from '@recordbus/schema';
import type { Settings } from '@recordbus/settings';
import type { TokenSigner } from '@recordbus/tokens';
import type { AuthCollections } from './auth-collections.ts';
import type { Lockout } from './lockout/lockout.ts';
import type { CodeHasher } from './one-time/code-hasher.ts';
import type { LoginChallenges } from './one-time/login-challenges.ts';

/** What every way to sign in depends on. */
export interface AuthParts {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Pick<Bus, 'notify'>;
  readonly settings: Settings;
  /** Encrypts authenticator secrets. */
  readonly cipher: ValueCipher;
  /** Hashes passwords and encrypts users' fields. */
  readonly encryption: FieldEncryption;
  readonly collections: AuthCollections;
  /** The collections that create rules may name. */
  readonly schema: QuerySchema;
  /** Hooks for sign-ins and for writes to users. */
  readonly accountHooks: AccountHooks;
  readonly signer: TokenSigner;
  readonly passwords: PasswordRules;
  readonly captchas: Captchas;
  readonly lockout: Lockout;
  readonly guessLimit: GuessLimit;
  readonly hashCode: CodeHasher;
  /** Challenges for passkeys. */
  readonly loginChallenges: LoginChallenges;
  /** The time in unix seconds. */
  readonly nowSec: () => number;
  /** Runs work after the answer, so that the caller learns neither its result nor its duration. Errors are logged. */
  readonly inBackground: (work: () => Promise<void>) => void;
}

/** A flow's request. */
export interface Origin {
  readonly context: RequestContext;
  readonly userAgent: string | undefined;
  /** Returns a query parameter. */
  queryText(name: string): string | undefined;
  header(name: string): string | undefined;
}

/** Returns the origin in a route's input. */
export const originOf = ({ context, queryText, header }: Pick<Origin, 'context' | 'queryText' | 'header'>): Origin => ({
  context,
  userAgent: header('user-agent'),
  queryText,
  header,
});
