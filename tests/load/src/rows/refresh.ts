import type pg from 'pg';
import { credentials, registerUser } from './register-user.ts';
import type { Row } from './row.ts';

const collection = 'returning';

/** Sessions whose tokens are refreshed in turn. */
export const sessionCount = 32;

/** The tokens by the connection to the product's database: two products may be compared. */
const tokensOf = new WeakMap<pg.Client, readonly string[]>();

/** Each request exchanges a valid token for a new one. */
export const refresh: Row = {
  name: 'refresh',
  title: 'refresh a token',
  isWrite: true,
  isProductOnly: true,
  async prepare(ground) {
    const { token } = await registerUser(ground, collection);
    const tokens = [token];
    while (tokens.length < sessionCount) tokens.push(await signIn(ground.url));
    tokensOf.set(ground.database, tokens);
    return async () => {
      await ground.admin.call('DELETE', `/api/v1/collections/${collection}`);
    };
  },
  requests: (database) => ({
    method: 'POST',
    paths: ['/api/v1/auth/refresh'],
    bodies: ['{}'],
    tokens: tokensOf.get(database) ?? [],
  }),
};

async function signIn(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/auth/${collection}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`cannot sign in: ${response.status} ${body}`);
  return JSON.parse(body).data.token;
}
