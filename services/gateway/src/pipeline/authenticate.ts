import { upgradeHead } from '@recordbus/http';
import type { Identify } from '@recordbus/moved-sessions';
import type { Principal } from '@recordbus/request/context';
import { isKeyId } from '@recordbus/sessions';
import type { ServiceKeys } from '../keys/service-keys.ts';
import type { SessionUse } from '../session-use/session-use.ts';
import type { AdmitOpen } from './admit-open.ts';
import type { Step } from './exchange.ts';
import { identifyKey, isKeyText } from './identify-key.ts';

/** The principal for callers without a token. */
export const guest: Principal = { type: 'guest', rejectedToken: false };
const rejected = { type: 'guest', rejectedToken: true } as const satisfies Principal;

const bearer = /^Bearer +([\w.-]+) *$/i;

/** The longest bearer token that a service checks, in characters. Longer than any one-time token. */
const maxOneTimeLength = 64;

interface AuthenticateDeps {
  readonly identifyToken: Identify;
  readonly keys: ServiceKeys;
  readonly sessionUse: Pick<SessionUse, 'note'>;
  readonly admitOpen: AdmitOpen;
}

/**
 * Sets the principal from the bearer token, which is a session token or a service key. A caller with an invalid token,
 * or with a token whose account or session has ended, is a guest whom rules refuse with 401 instead of 403 (http §6.4).
 * Only the gateway reads credentials, so this step removes them from the request, unless the route checks its own. A route
 * that takes enrollment tokens gets an unknown bearer token with the context.
 */
export function authenticate({ identifyToken, keys, sessionUse, admitOpen }: AuthenticateDeps): Step {
  const identify = async (
    credentials: string,
    clientAddress: string,
    userAgent: string | undefined,
  ): Promise<Principal> => {
    const token = bearer.exec(credentials)?.[1];
    const found = token && (await identifyToken(token, { clientAddress, userAgent }));
    if (!found || !(await isWithinNetworks(keys, found.principal, clientAddress))) return rejected;
    if (found.sessionId) sessionUse.note(found.sessionId);
    return found.principal;
  };
  return async (request, response, next) => {
    const { exchange } = response.locals;
    if (exchange.route?.staysOpen || upgradeHead(request)) await admitOpen(request, exchange);
    const { authorization } = request.headers;
    if (authorization !== undefined && !exchange.route?.readsAuthorization) {
      request.headers.authorization = undefined;
      const key = bearer.exec(authorization)?.[1] ?? '';
      if (isKeyText(key)) {
        await identifyKey(keys, key, exchange, request.headers['user-agent']);
        next();
        return;
      }
      const { clientAddress } = exchange.context;
      const principal = await identify(authorization, clientAddress, request.headers['user-agent']);
      const isForService = principal === rejected && exchange.route?.takesEnrollment && key.length <= maxOneTimeLength;
      exchange.context = { ...exchange.context, principal: isForService ? { ...rejected, bearer: key } : principal };
    }
    next();
  };
}

/** Whether a token with which a service key acts as a user is used from the key's networks (keys §1.5). */
const isWithinNetworks = async (keys: Pick<ServiceKeys, 'admits'>, principal: Principal, address: string) => {
  const actor = principal.type === 'user' ? principal.impersonatedBy : null;
  return actor === null || !isKeyId(actor) || keys.admits(actor, address);
};
