import type { webcrypto } from 'node:crypto';
import { jwtVerify } from 'jose/jwt/verify';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { importTokenKey, type Session, sessionTokenType } from './session-token.ts';

/** Verifies session tokens, including another secret holder's without `typ` or version (auth §8.2). */
export interface TokenVerifier {
  /** Returns a token's session; undefined for a text that is forged, expired, another kind's token, or not a token. */
  verifySession(token: string): Promise<Session | undefined>;
}

/** How many verified tokens are in the cache. A token is about 500 bytes. */
const cachedTokens = 10_000;

/** Longer texts are refused unread: no real token is that long, and the cache keeps whole tokens. */
const maxTokenLength = 4096;

/** How far the signing process's clock may be ahead of this one, in seconds. */
const clockToleranceSec = 60;

const common = {
  id: z.string().min(1),
  email: z.string(),
  iat: z.int(),
  exp: z.int(),
  tv: z.int().nonnegative().default(0),
  sid: z.string().min(1).max(64).optional(),
};

/** The claims in auth §8.2. The audience is one string: a list could name both "user" and "admin". */
const sessionClaims = z.discriminatedUnion('aud', [
  z.object({ ...common, aud: z.literal('admin') }),
  z.object({
    ...common,
    aud: z.literal('user'),
    collection: z.string().min(1),
    anonymous: z.boolean().default(false),
    impersonated_by: z.string().nullable().default(null),
  }),
]);

/**
 * Creates the verifier from the deployment's token secret (raw bytes); `clock` returns milliseconds. A token is
 * verified once and cached until it expires. Refused tokens are not cached.
 */
export function createTokenVerifier(secret: Uint8Array, clock: () => number = Date.now): TokenVerifier {
  const key = importTokenKey(secret);
  const sessions = new LRUCache<string, Session>({ max: cachedTokens });

  async function verify(token: string): Promise<Session | undefined> {
    if (token.length > maxTokenLength) return undefined;
    const session = await readSession(token, await key, clock());
    if (session) sessions.set(token, session);
    return session;
  }

  return {
    async verifySession(token) {
      const session = sessions.get(token);
      if (!session) return verify(token);
      if (session.expiresAtSec * 1000 > clock()) return session;
      sessions.delete(token);
      return undefined;
    },
  };
}

async function readSession(token: string, key: webcrypto.CryptoKey, nowMs: number): Promise<Session | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      currentDate: new Date(nowMs),
    });
    if ((protectedHeader.typ ?? sessionTokenType) !== sessionTokenType) return undefined;
    const claims = sessionClaims.parse(payload);
    return claims.iat > nowMs / 1000 + clockToleranceSec ? undefined : toSession(claims);
  } catch {
    // Every error means a bad token: jose throws plain TypeErrors too.
    return undefined;
  }
}

function toSession(claims: z.output<typeof sessionClaims>): Session {
  const { id, email, exp: expiresAtSec, tv: tokenVersion, sid: sessionId } = claims;
  if (claims.aud === 'admin') return { principal: { type: 'admin', id, email }, tokenVersion, sessionId, expiresAtSec };
  const { collection, anonymous, impersonated_by: impersonatedBy } = claims;
  return {
    principal: { type: 'user', id, email, collection, anonymous, impersonatedBy },
    tokenVersion,
    sessionId,
    expiresAtSec,
  };
}
