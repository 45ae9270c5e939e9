import type { Principal } from '@recordbus/request/context';
import type { Accounts } from '@recordbus/sessions';
import type { TokenVerifier } from '@recordbus/tokens';
import type { MovedTokens, TokenOrigin } from './moved-tokens.ts';

interface IdentifyDeps {
  readonly verifier: TokenVerifier;
  readonly accounts: Pick<Accounts, 'findPrincipal'>;
  readonly movedTokens: MovedTokens;
}

/** Whose token it is, and its session. */
export interface Identified {
  readonly principal: Principal;
  readonly sessionId: string | undefined;
}

/** Returns who has a session token; undefined when it is not valid, or its session has ended. */
export type Identify = (token: string, origin?: TokenOrigin) => Promise<Identified | undefined>;

/** Creates the one door for session tokens: ours, and those that came with their accounts from PocketBase. */
export function createIdentify({ verifier, accounts, movedTokens }: IdentifyDeps): Identify {
  return async (token, origin) => {
    const session =
      movedTokens.find(token) ?? (await verifier.verifySession(token)) ?? (await movedTokens.verify(token, origin));
    const principal = session && (await accounts.findPrincipal(session));
    return principal && { principal, sessionId: session.sessionId };
  };
}
