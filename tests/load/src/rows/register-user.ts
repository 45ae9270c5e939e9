import type { Ground } from './row.ts';

/** The credentials that the rows' user has. */
export const credentials = { email: 'user@example.com', password: 'a bench needs no secret' };

/** Creates an auth collection with one signed-in user. */
export async function registerUser(
  { admin, url }: Pick<Ground, 'admin' | 'url'>,
  collection: string,
): Promise<{ id: string; token: string }> {
  await admin.call('POST', '/api/v1/collections', { name: collection, type: 'auth', fields: [], create_rule: null });
  const response = await fetch(`${url}/api/v1/auth/${collection}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`cannot register the user: ${response.status} ${body}`);
  const { data } = JSON.parse(body);
  return { id: data.record.id, token: data.token };
}
