import { SignJWT } from 'jose';

/** The user whom a token names (auth §8.2). */
const tokenUser = { id: '01980000-0000-7000-8000-000000000001', email: 'uma@example.com', collection: 'users' };

/** Mints a user's session token as the product does: HS256 with the secret's raw bytes (auth §8.2). */
export const mintUserToken = (secret: string, claims: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  mint(secret, { aud: 'user', ...tokenUser, ...claims });

/** Signs claims with the secret. By default the token is valid for an hour. */
export function mint(secret: string, claims: Readonly<Record<string, unknown>>): Promise<string> {
  const nowSec = Math.floor(Date.now() / 1000);
  return new SignJWT({ iat: nowSec, exp: nowSec + 3600, ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(secret));
}
