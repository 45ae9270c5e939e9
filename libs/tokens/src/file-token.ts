import { createHmac, hkdfSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { z } from 'zod';
import { importTokenKey } from './session-token.ts';

/** The file that a token opens. */
export interface TokenFile {
  readonly collectionId: string;
  readonly recordId: string;
  readonly filename: string;
}

/** A file token's content (files §6). */
export interface FileToken {
  /** Identifies a used one-time token. */
  readonly id: string;
  /** Null for a token that opens every file that its minter may see (files §6.2). */
  readonly file: TokenFile | null;
  /** The minter, for whom each download checks the rules again (files §6.3). Null for a guest. */
  readonly minter: FileTokenMinter | null;
  readonly expiresAtSec: number;
  /** Whether the token may be used from this address. Always true when the token is bound to none. */
  admits(clientAddress: string): boolean;
}

/**
 * The principal who requested a token: the account's id and token version at that time, so a later version ends the
 * token. A service key has no versions, and its token ends with the key. URLs carry tokens into logs, so a token names
 * nothing else about a person (files §6.4).
 */
export type FileTokenMinter = (
  | { readonly type: 'admin' | 'service'; readonly id: string }
  | { readonly type: 'user'; readonly id: string; readonly collection: string; readonly impersonatedBy: string | null }
) & {
  readonly tokenVersion: number;
  /** The session with which the token ends, if any. */
  readonly sessionId?: string | undefined;
};

interface NewFileToken extends Omit<FileToken, 'id' | 'expiresAtSec' | 'admits'> {
  /** The only client address that may use the token; by default every address may. */
  readonly boundTo?: string;
  readonly windowSec: number;
}

/** Signs and verifies file tokens (files §6). */
export interface FileTokens {
  sign(token: NewFileToken): Promise<{ readonly token: string; readonly expiresAtSec: number }>;
  /** Returns undefined for a text that is forged, expired, another kind's token, or no token. */
  verify(token: string): Promise<FileToken | undefined>;
}

const fileTokenType = 'file+jwt';
const audience = 'file';

/** Longer texts are refused unread. Names and addresses are bounded, so no real token is that long. */
const maxTokenLength = 4096;

const minterClaims = z.discriminatedUnion('type', [
  z.object({
    type: z.enum(['admin', 'service']),
    id: z.string(),
    sessionId: z.string().optional(),
    tokenVersion: z.int(),
  }),
  z.object({
    type: z.literal('user'),
    id: z.string(),
    collection: z.string(),
    impersonatedBy: z.string().nullable(),
    sessionId: z.string().optional(),
    tokenVersion: z.int(),
  }),
]);

const fileClaims = z.object({
  jti: z.string().min(1),
  exp: z.int(),
  ...z.object({ collection_id: z.string(), record_id: z.string(), filename: z.string() }).partial().shape,
  minter: minterClaims.nullable(),
  address_hash: z.string().optional(),
});

/**
 * Creates the signer and verifier for file tokens from the deployment's token secret (raw bytes); `clock` returns
 * milliseconds. The key is derived, so no other kind of token is accepted, whatever its claims. URLs carry tokens into
 * logs, so a token holds a bound address only as a keyed hash.
 */
export function createFileTokens(secret: Uint8Array, clock: () => number = Date.now): FileTokens {
  const derive = (purpose: string) => new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
  const key = importTokenKey(derive('recordbus file token'));
  const addressKey = derive('recordbus file token address');
  const hashAddress = (jti: string, address: string) =>
    createHmac('sha256', addressKey).update(`${jti} ${address}`).digest('base64url');

  return {
    async sign({ file, minter, boundTo, windowSec }) {
      const jti = randomUUID();
      const issuedAtSec = Math.floor(clock() / 1000);
      const expiresAtSec = issuedAtSec + windowSec;
      const claims = {
        ...(file && { collection_id: file.collectionId, record_id: file.recordId, filename: file.filename }),
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
        file: fileOf(claims),
        minter: claims.minter,
        expiresAtSec: claims.exp,
        admits: (address) => addressHash === undefined || addressHash === hashAddress(jti, address),
      };
    },
  };
}

function fileOf(claims: z.output<typeof fileClaims>): TokenFile | null {
  const { collection_id: collectionId, record_id: recordId, filename } = claims;
  return collectionId === undefined || recordId === undefined || filename === undefined
    ? null
    : { collectionId, recordId, filename };
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
    // Every error means a bad token: jose throws plain TypeErrors too.
    return undefined;
  }
}
