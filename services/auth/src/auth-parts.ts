import type { AccountHooks } from '@recordbus/accounts';
import type { Bus } from '@recordbus/bus';
import type { Envelope } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import type { GuessLimit, PasswordRules } from '@recordbus/passwords';
import type { FieldSealing } from '@recordbus/schema';
import type { Settings } from '@recordbus/settings';
import type { RequestContext } from '@recordbus/shared/context';
import type { Logger } from '@recordbus/shared/logging';
import type { TokenSigner } from '@recordbus/tokens';
import type { AuthCollections } from './collections/auth-collections.ts';
import type { Lockout } from './lockout/lockout.ts';
import type { OauthProviders } from './oauth/oauth-providers.ts';
import type { CodeHasher } from './one-time/code-hasher.ts';

/** What every way to sign in stands on. */
export interface AuthParts {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Pick<Bus, 'notify'>;
  readonly settings: Settings;
  /** Seals what is kept of authenticator apps. */
  readonly envelope: Envelope;
  /** Keeps passwords and encrypted fields of users as they are to be kept. */
  readonly sealing: FieldSealing;
  readonly collections: AuthCollections;
  /** What stands before sign-ins and before writes of users. */
  readonly accountHooks: AccountHooks;
  readonly signer: TokenSigner;
  readonly passwords: PasswordRules;
  readonly lockout: Lockout;
  readonly guessLimit: GuessLimit;
  readonly hashCode: CodeHasher;
  readonly oauth: OauthProviders;
  /** The time in unix seconds. */
  readonly nowSec: () => number;
  /** Does work whose outcome and duration the caller is not to learn, after the answer; errors are logged. */
  readonly inBackground: (work: () => Promise<void>) => void;
}

/** Of the request by which someone signs in. */
export interface Origin {
  readonly context: RequestContext;
  readonly userAgent: string | undefined;
}

/** The origin of a route's input. */
export const originOf = (input: {
  readonly context: RequestContext;
  header(name: string): string | undefined;
}): Origin => ({ context: input.context, userAgent: input.header('user-agent') });

/**
 * To be called after a commit that wrote a user: wakes the relay of events, and the gateways if tokens may have ended.
 */
export function tellOfWrittenUsers(bus: Pick<Bus, 'notify'>): void {
  bus.notify('outbox');
  bus.notify('accounts');
}
