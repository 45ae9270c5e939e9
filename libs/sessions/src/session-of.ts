import type { Principal } from '@recordbus/request/context';
import type { Session } from '@recordbus/tokens';

/**
 * Returns the session behind a principal that the gateway passed on, to look it up again; undefined for a guest, for a
 * service key, and for a principal without a session's claims.
 */
export function sessionOf(principal: Principal): Session | undefined {
  if (principal.type === 'guest' || principal.type === 'service') return undefined;
  const { tokenVersion, sessionId, expiresAtSec } = principal;
  return tokenVersion === undefined || expiresAtSec === undefined
    ? undefined
    : { principal, tokenVersion, sessionId, expiresAtSec };
}
