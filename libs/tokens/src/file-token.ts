import { createHmac, hkdfSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { z } from 'zod';
import { importTokenKey, type SessionPrincipal } from './session-token.ts';

/** A file token as it states itself: which file, for whom, and from where. */
export interface FileToken {
  /** What a one-time token is remembered by once it was used. */
  readonly id: string;
  readonly collectionId: string;
  readonly recordId: string;
  readonly filename: string;
  /** Who minted it; the rules are asked for them again at each download. Null for a guest. */
  readonly minter: FileTokenMinter | null;
  readonly expiresAtSec: number;
  /** May the token be used from this address? True for every one when the token is bound to none. */
  admits(clientAddress: string): boolean;
}

/** Whoever asked for a token, as their account was then: one that has moved on ends the token with the sessions. */
export type FileTokenMinter = SessionPrincipal & { readonly tokenVersion: number };

interface NewFileToken extends Omit<FileToken, 'id' | 'expiresAtSec' | 'admits'> {
  /** The only client address that may use the token; any when left out. */
  readonly boundTo?: string;
  readonly windowSec: number;
}

/** Signs and reads file tokens (contract §3). */
export interface FileTokens {
  sign(token: NewFileToken): Promise<{ readonly token: string; readonly expiresAtSec: number }>;
  /** Undefined for one that is forged, expired, of another kind, or no token at all. */
  verify(token: string): Promise<FileToken | undefined>;
}

const fileTokenType = 'file+jwt';
const audience = 'file';

/** Longer ones are refused unread; names and addresses are bounded, so no token of ours comes near. */
const maxTokenLength = 4096;

const minterClaims = z.discriminatedUnion('type', [
  z.object({ type: z.literal('admin'), id: z.string(), email: z.string(), tokenVersion: z.int() }),
  z.object({
    type: z.literal('user'),
    id: z.string(),
    email: z.string(),
    collection: z.string(),
    anonymous: z.boolean(),
    impersonatedBy: z.string().nullable(),
    sessionId: z.string().optional(),
    tokenVersion: z.int(),
  }),
]);

const fileClaims = z.object({
  jti: z.string().min(1),
  exp: z.int(),
  collection_id: z.string(),
  record_id: z.string(),
  filename: z.string(),
  minter: minterClaims.nullable(),
  address_hash: z.string().optional(),
});

/**
 * Makes the signer and reader of file tokens from the deployment's token secret (raw bytes); `clock` gives
 * milliseconds. Their key is derived, so that no token of another kind passes for one, whatever its claims. They are
 * carried in URLs, which end up in logs, so a bound address is in them as a keyed hash only.
 */
export function createFileTokens(secret: Uint8Array, clock: () => number = Date.now): FileTokens {
  const derive = (purpose: string) => new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
  const key = importTokenKey(derive('recordbus file token'));
  const addressKey = derive('recordbus file token address');
  const hashAddress = (jti: string, address: string) =>
    createHmac('sha256', addressKey).update(`${jti} ${address}`).digest('base64url');

  return {
    async sign({ collectionId, recordId, filename, minter, boundTo, windowSec }) {
      const jti = randomUUID();
      const issuedAtSec = Math.floor(clock() / 1000);
      const expiresAtSec = issuedAtSec + windowSec;
      const claims = {
        collection_id: collectionId,
        record_id: recordId,
        filename,
        minter,
        ...(boundTo !== undefined && { address_hash: hashAddress(jti, boundTo) }),
      };
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', typ: fileTokenType })
        .setAudience(audience)
        .setIssuedAt(issuedAtSec)
        .setExpirationTime(expiresAtSec)
        .setJti(jti)
        .sign(await key);
      return { token, expiresAtSec };
    },

    async verify(token) {
      if (token.length > maxTokenLength) return undefined;
      const claims = await readClaims(token, await key, clock());
      if (!claims) return undefined;
      const { jti, address_hash: addressHash } = claims;
      return {
        id: jti,
        collectionId: claims.collection_id,
        recordId: claims.record_id,
        filename: claims.filename,
        minter: claims.minter,
        expiresAtSec: claims.exp,
        admits: (address) => addressHash === undefined || addressHash === hashAddress(jti, address),
      };
    },
  };
}

type TokenKey = Awaited<ReturnType<typeof importTokenKey>>;

async function readClaims(
  token: string,
  key: TokenKey,
  nowMs: number,
): Promise<z.output<typeof fileClaims> | undefined> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      audience,
      typ: fileTokenType,
      currentDate: new Date(nowMs),
    });
    return fileClaims.parse(payload);
  } catch {
    // Whatever it is, the token is no good: jose throws plain TypeErrors too.
    return undefined;
  }
}
