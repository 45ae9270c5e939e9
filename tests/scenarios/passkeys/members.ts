import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Answer, type Client, createClient } from '../../harness/clients/client.ts';
import { at, type JsonObject, listAt, textAt } from '../../harness/json.ts';
import { type Authenticator, createAuthenticator, type Deviation } from '../../harness/sign-in/authenticator.ts';
import type { Target } from '../../harness/stacks/target.ts';

export const password = 'a long and winding password';
export const auth = '/api/v1/auth/members';
export const passkeys = `${auth}/passkeys`;

/** An answer's status and its error's code. */
export const outcome = ({ status, json }: Answer): [number, unknown] => [status, at(json, 'code')];

export const badPasskey = [401, 'invalid_passkey'] as const;

/** A user with a session. */
export interface Member {
  readonly id: string;
  readonly email: string;
  readonly client: Client;
}

/** Creates the auth collection `members`, and returns what the scenarios do with its users. */
export async function prepareMembers(target: Target) {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'members', type: 'auth' });
  const { guest } = target;
  const optionsOf = async (path: string, client: Client, body: object = {}): Promise<JsonObject> =>
    client.post(`${path}/options`, body, 200);
  const members = {
    admin,
    async register(name = 'ann'): Promise<Member> {
      const email = `${name}.${randomUUID()}@example.com`;
      const data = await guest.post(`${auth}/register`, { email, password });
      return { id: textAt(data, 'record.id'), email, client: createClient(target.url, textAt(data, 'token')) };
    },
    /** Adds a passkey and returns the authenticator that has it. */
    async withPasskey(member: Member, authenticator = createAuthenticator()): Promise<Authenticator> {
      const { status, text } = await members.add(member, authenticator);
      assert.equal(status, 201, text);
      return authenticator;
    },
    begin: ({ client }: Member) => optionsOf(`${passkeys}/register`, client),
    finish: ({ client }: Member, body: object) => client.send('POST', `${passkeys}/register/verify`, { body }),
    async add(member: Member, authenticator: Authenticator, deviation?: Deviation): Promise<Answer> {
      return members.finish(member, authenticator.create(await members.begin(member), deviation));
    },
    beginSignIn: (client = guest) => optionsOf(`${passkeys}/login`, client),
    finishSignIn: (body: object, client = guest) => client.send('POST', `${passkeys}/login/verify`, { body }),
    async signIn(authenticator: Authenticator, deviation?: Deviation): Promise<Answer> {
      return members.finishSignIn(authenticator.get(await members.beginSignIn(), deviation));
    },
    listOf: async ({ client }: Member): Promise<readonly JsonObject[]> =>
      listAt((await client.get(passkeys)).json, 'data'),
    remove: ({ client }: Member, id: string, body: object = {}) => client.send('DELETE', `${passkeys}/${id}`, { body }),
    async actionsOn({ id }: Member): Promise<unknown[]> {
      const { json } = await admin.get(`/api/v1/admin/audit?target_id=${id}`);
      return listAt(json, 'data').map(({ action }) => action);
    },
  };
  return members;
}

export type Members = Awaited<ReturnType<typeof prepareMembers>>;
