import { z } from 'zod';

/** What a PocketBase token says. */
export interface TokenClaims {
  readonly id: string;
  readonly collectionId: string;
  readonly expiresAtSec: number;
  /** False for a token that a superuser made for a user: it is never extended. */
  readonly isRefreshable: boolean;
}

/** Longer texts are refused unread: no PocketBase token is that long. */
const maxTokenLength = 1024;

const shape = z
  .object({
    type: z.literal('auth'),
    id: z.string().regex(/^[\w-]{1,64}$/),
    collectionId: z.string().min(1).max(64),
    exp: z.int(),
    refreshable: z.boolean().default(false),
  })
  .transform(({ id, collectionId, exp, refreshable }): TokenClaims => {
    return { id, collectionId, expiresAtSec: exp, isRefreshable: refreshable };
  });

/** Reads a token's claims, unverified; undefined for a text that is not a PocketBase token, or an expired one. */
export function readClaims(token: string, nowSec: number): TokenClaims | undefined {
  if (token.length > maxTokenLength) return undefined;
  const [, payload] = token.split('.');
  try {
    const claims = shape.safeParse(JSON.parse(Buffer.from(payload ?? '', 'base64url').toString())).data;
    return claims && claims.expiresAtSec > nowSec ? claims : undefined;
  } catch {
    return undefined;
  }
}
