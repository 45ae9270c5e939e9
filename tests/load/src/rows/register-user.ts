import type { Ground } from './row.ts';

/** How the user of the rows signs in. */
export const credentials = { email: 'user@example.com', password: 'a bench needs no secret' };

/** Makes an auth collection with one user, who is signed in. */
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
  if (!response.ok) throw new Error(`the user could not be registered: ${response.status} ${body}`);
  const { data } = JSON.parse(body);
  return { id: data.record.id, token: data.token };
}
