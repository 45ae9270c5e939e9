import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { importTokenKey } from './session-token.ts';

/** Adds claims to a session token. Throws for a text that is not one, or that has such a claim already. */
export type ExtendToken = (token: string, claims: Readonly<Record<string, unknown>>) => Promise<string>;

/**
 * Creates the function from the deployment's token secret (raw bytes). The token stays the same session, with the same
 * end: other systems' clients read the added claims, and the product ignores them.
 */
export function createTokenExtender(secret: Uint8Array): ExtendToken {
  const key = importTokenKey(secret);
  return async (token, claims) => {
    const { payload, protectedHeader } = await jwtVerify(token, await key, { algorithms: ['HS256'] });
    for (const name of Object.keys(claims))
      if (Object.hasOwn(payload, name)) throw new Error(`the token has the claim ${name} already`);
    return new SignJWT({ ...payload, ...claims })
      .setProtectedHeader({ ...protectedHeader, alg: 'HS256' })
      .sign(await key);
  };
}
