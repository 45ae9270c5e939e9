import assert from 'node:assert/strict';
import PocketBase from 'pocketbase';

/** A server that PocketBase's official client talks to: ours, or the real one. */
export interface Side {
  /** The address that an app has. */
  readonly url: string;
  /** Signs in as an admin. */
  admin(): Promise<PocketBase>;
  /** Creates the collections of `world`. */
  prepare(): Promise<void>;
}

/** The callers of the table, each with a client of its own. */
export interface Cast {
  readonly guest: PocketBase;
  readonly alice: PocketBase;
  readonly bob: PocketBase;
  readonly admin: PocketBase;
  /** Ids that earlier rows noted. */
  readonly ids: Record<string, string>;
  readonly url: string;
}

export const password = 'correct horse 1';

/** A client as an app creates it. */
export function connect(url: string): PocketBase {
  const client = new PocketBase(url);
  client.autoCancellation(false);
  return client;
}

/** Prepares a side, and signs its callers up and in. */
export async function castOf(side: Side): Promise<Cast> {
  await side.prepare();
  const [alice, bob] = await Promise.all(
    ['alice', 'bob'].map(async (name) => {
      const client = connect(side.url);
      const email = `${name}@example.com`;
      await client.collection('users').create({ email, password, passwordConfirm: password, name });
      await client.collection('users').authWithPassword(email, password);
      return client;
    }),
  );
  assert.ok(alice && bob);
  return { guest: connect(side.url), alice, bob, admin: await side.admin(), ids: {}, url: side.url };
}

export const idOf = (client: PocketBase): string => client.authStore.record?.id ?? '';
