import { createHmac } from 'node:crypto';
import type { ValueCipher } from '@recordbus/crypto';
import { type Database, mapDatabaseError } from '@recordbus/database';
import type { Session } from '@recordbus/tokens';
import { jwtVerify } from 'jose/jwt/verify';
import { LRUCache } from 'lru-cache';
import { createFindKey } from './account-keys.ts';
import { openSession } from './open-session.ts';
import { readClaims } from './token-claims.ts';

/** Where a token comes from: its session shows it. */
export interface TokenOrigin {
  readonly clientAddress?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** Verifies the tokens that PocketBase signed for accounts that have moved in (move §2.8). */
export interface MovedTokens {
  /** Returns a verified token's session. */
  find(token: string): Session | undefined;
  /**
   * Verifies a token, and opens its session if no replica has seen it before. Returns undefined for a forged or expired
   * token, and for an account that has no key. Only the session's row says whether it is open. Throws 503 when the
   * database does not answer.
   */
  verify(token: string, origin?: TokenOrigin): Promise<Session | undefined>;
}

interface MovedTokensDeps {
  readonly database: Pick<Database, 'query'>;
  readonly cipher: ValueCipher;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

/** How many verified tokens are cached. */
const cachedTokens = 10_000;

/** Longer user agents are cut, in characters. */
const maxUserAgentLength = 512;

/** Creates the verifier. A text that does not look like a PocketBase token costs no statement. */
export function createMovedTokens({ database, cipher, clock = Date.now }: MovedTokensDeps): MovedTokens {
  const verified = new LRUCache<string, Session>({ max: cachedTokens });
  const findKey = createFindKey(database.query);

  async function verify(token: string, origin: TokenOrigin): Promise<Session | undefined> {
    const nowSec = Math.floor(clock() / 1000);
    const claims = readClaims(token, nowSec);
    const key = claims && (await findKey(claims.id));
    if (!key || key.alias !== claims.collectionId) return undefined;
    const secret = cipher.decrypt(key.tokenKey);
    if (secret === undefined || !(await isSigned(token, secret, clock()))) return undefined;
    const sessionId = sessionIdOf(token, secret);
    const session: Session = {
      principal: {
        type: 'user',
        id: claims.id,
        email: '',
        collection: key.collection,
        anonymous: false,
        impersonatedBy: null,
      },
      tokenVersion: key.tokenVersion,
      sessionId,
      expiresAtSec: claims.expiresAtSec,
    };
    const { clientAddress = null, userAgent } = origin;
    const shown = { clientAddress, userAgent: userAgent?.slice(0, maxUserAgentLength) ?? null };
    await openSession(database, { id: sessionId, key, claims, ...shown }, nowSec);
    verified.set(token, session);
    return session;
  }

  return {
    find(token) {
      const session = verified.get(token);
      if (!session || session.expiresAtSec * 1000 > clock()) return session;
      verified.delete(token);
      return undefined;
    },
    async verify(token, origin = {}) {
      try {
        return await verify(token, origin);
      } catch (error) {
        throw mapDatabaseError(error) ?? error;
      }
    },
  };
}

/**
 * A token used twice has one session. One signature has several spellings, so the id comes from the signed text and the
 * key: two tokens from the same second differ only by their key.
 */
function sessionIdOf(token: string, key: string): string {
  const signedPart = token.slice(0, token.lastIndexOf('.'));
  return `pb_${createHmac('sha256', key).update(`session ${signedPart}`).digest('base64url')}`;
}

async function isSigned(token: string, secret: string, nowMs: number): Promise<boolean> {
  try {
    await jwtVerify(token, new TextEncoder().encode(secret), { algorithms: ['HS256'], currentDate: new Date(nowMs) });
    return true;
  } catch {
    // Every error means a bad token, as for our own.
    return false;
  }
}
