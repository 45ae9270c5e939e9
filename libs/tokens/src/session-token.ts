import { randomUUID, webcrypto } from 'node:crypto';
import type { Principal } from '@recordbus/request/context';
import { SignJWT } from 'jose/jwt/sign';

/** A session's principal; guests and service keys have none. */
export type SessionPrincipal = Extract<Principal, { type: 'user' | 'admin' }>;

/** A session as its token states it. */
export interface Session {
  readonly principal: SessionPrincipal;
  /** The account's token version when the token was signed. A later account version ends the session. */
  readonly tokenVersion: number;
  /** The session's row; absent from tokens that another secret holder signed (auth §8.2). */
  readonly sessionId?: string | undefined;
  readonly expiresAtSec: number;
}

/**
 * The header's `typ` in session tokens (RFC 8725 §3.11). Every other kind of token has its own `typ`, audience and key,
 * so that kinds are not interchangeable (auth §8.4).
 */
export const sessionTokenType = 'JWT';

/** Imports a secret as an HS256 key. Signing with the raw secret would import it each time, at four times the cost. */
export const importTokenKey = (secret: Uint8Array): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey('raw', Uint8Array.from(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ]);

interface NewSession {
  readonly principal: SessionPrincipal;
  readonly tokenVersion: number;
  readonly sessionId?: string | undefined;
  /** The token's lifetime in seconds. */
  readonly windowSec: number;
}

/** Signs session tokens. */
export interface TokenSigner {
  /** Returns a token with auth §8.2's claims that expires after `windowSec`. No two tokens are the same. */
  signSession(session: NewSession): Promise<string>;
}

/** Creates the signer from the deployment's token secret (raw bytes); `clock` returns milliseconds. */
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
