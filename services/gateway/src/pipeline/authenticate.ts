import type { Principal } from '@recordbus/shared/context';
import type { TokenVerifier } from '@recordbus/tokens';
import type { Accounts } from '../accounts/accounts.ts';
import type { Step } from './exchange.ts';

/** Callers without a valid token. */
export const guest: Principal = { type: 'guest', rejectedToken: false };
const rejected: Principal = { type: 'guest', rejectedToken: true };

const bearer = /^Bearer +([\w.-]+) *$/i;

/**
 * Finds out who is calling. A token that is no good makes a guest like any other, whom a rule refuses with 401 instead
 * of 403 (contract §1); one whose account or session has ended is no good either. Only the gateway reads credentials, so
 * they go no further.
 */
export function authenticate(verifier: TokenVerifier, accounts: Pick<Accounts, 'findPrincipal'>): Step {
  const identify = async (credentials: string): Promise<Principal> => {
    const token = bearer.exec(credentials)?.[1];
    const session = token && (await verifier.verifySession(token));
    return (session && (await accounts.findPrincipal(session))) || rejected;
  };
  return async (request, response, next) => {
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      const { exchange } = response.locals;
      exchange.context = { ...exchange.context, principal: await identify(authorization) };
      request.headers.authorization = undefined;
    }
    next();
  };
}
