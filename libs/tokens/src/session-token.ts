import { randomUUID, webcrypto } from 'node:crypto';
import type { Principal } from '@recordbus/shared/context';
import { SignJWT } from 'jose/jwt/sign';

/** Whose session a token is; a guest has none. */
export type SessionPrincipal = Exclude<Principal, { type: 'guest' }>;

/** A session as its token states it. */
export interface Session {
  readonly principal: SessionPrincipal;
  /** The account's token version when the token was made: an account whose version moved on has ended the session. */
  readonly tokenVersion: number;
  /** The row in the list of sessions; a token that was signed elsewhere may have none. */
  readonly sessionId?: string | undefined;
  readonly expiresAtSec: number;
}

/**
 * The header's `typ` of session tokens (RFC 8725 §3.11). Every other kind of token has a `typ`, an audience and a key
 * of its own, so that none passes for another.
 */
export const sessionTokenType = 'JWT';

/** HS256 and nothing else; a raw secret given to each call would be imported anew each time, at four times the cost. */
export const importTokenKey = (secret: Uint8Array): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey('raw', Uint8Array.from(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ]);

interface NewSession {
  readonly principal: SessionPrincipal;
  readonly tokenVersion: number;
  readonly sessionId?: string | undefined;
  /** How long the token is good, in seconds. */
  readonly windowSec: number;
}

/** Signs session tokens. */
export interface TokenSigner {
  /** A token with the claims of interface §5, good for `windowSec` from now on; no two are the same. */
  signSession(session: NewSession): Promise<string>;
}

/** Makes the signer from the deployment's token secret (raw bytes); `clock` gives milliseconds. */
export function createTokenSigner(secret: Uint8Array, clock: () => number = Date.now): TokenSigner {
  const key = importTokenKey(secret);
  return {
    async signSession({ principal, tokenVersion, sessionId, windowSec }) {
      const issuedAtSec = Math.floor(clock() / 1000);
      return new SignJWT({ ...toClaims(principal), tv: tokenVersion, ...(sessionId && { sid: sessionId }) })
        .setProtectedHeader({ alg: 'HS256', typ: sessionTokenType })
        .setAudience(principal.type)
        .setIssuedAt(issuedAtSec)
        .setExpirationTime(issuedAtSec + windowSec)
        .setJti(randomUUID())
        .sign(await key);
    },
  };
}

function toClaims(principal: SessionPrincipal): Record<string, unknown> {
  const { id, email } = principal;
  if (principal.type === 'admin') return { id, email };
  const { collection, anonymous, impersonatedBy } = principal;
  return {
    id,
    email,
    collection,
    ...(anonymous && { anonymous }),
    ...(impersonatedBy && { impersonated_by: impersonatedBy }),
  };
}
