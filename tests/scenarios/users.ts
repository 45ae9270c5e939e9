import { randomBytes } from 'node:crypto';
import { type Client, createClient } from '../harness/clients/client.ts';
import { type JsonObject, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import type { Target } from '../harness/stacks/target.ts';

export const password = 'a long and winding password';
export const auth = '/api/v1/auth';

/** Creates an auth collection with a field `nick`, unless the definition says otherwise. Returns its name. */
export async function createUsers(target: Target, definition: object = {}): Promise<string> {
  const name = `users_${randomBytes(4).toString('hex')}`;
  const fields = [{ name: 'nick', type: 'text' }];
  await (await target.admin()).post('/api/v1/collections', { name, type: 'auth', fields, ...definition });
  return name;
}

export const signUp = (target: Target, users: string, email: string): Promise<JsonObject> =>
  target.guest.post(`${auth}/${users}/register`, { email, password });

/** Returns a client with a session's token, as sign-in answers it. */
export const clientOf = (target: Target, session: unknown): Client =>
  createClient(target.url, textAt(session, 'token'));

/** A new account's record, as answers show it. */
export const userRecord = (email: string, more: object = {}) => ({
  id: is.uuidV7,
  email,
  verified: false,
  anonymous: false,
  nick: null,
  created: is.now,
  updated: is.now,
  ...more,
});
