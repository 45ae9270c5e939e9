import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { type Answer, type Client, createClient } from '../../harness/clients/client.ts';
import { textAt } from '../../harness/json.ts';
import { type OidcServer, type Person, redirectUri } from '../../harness/servers/oidc-server.ts';
import type { Target } from '../../harness/stacks/target.ts';

export const password = 'correct horse battery staple';
export const provider = 'oidc';
/** Where these scenarios' users sign in. */
export const path = '/api/v1/auth/people/oauth2';

/** A person whose address the provider has verified. */
export const newPerson = (name: string): Person & { readonly email: string } => ({
  id: `${name}-${randomUUID()}`,
  email: `${name}@example.com`,
  email_verified: true,
});

/** The members as a query. */
export const queryOf = (members: Readonly<Record<string, string>>): string => new URLSearchParams(members).toString();

/** What a client sends about its PKCE verifier (RFC 7636 §4.2). */
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

/** Returns an answer's status. */
export const statusOf = ({ status }: Answer): number => status;

/** What an app does for its users with the provider. */
export type Visitor = ReturnType<typeof createVisitor>;

/** Creates the app with which users in `people`, or at another collection's routes, sign in. */
export function createVisitor({ url, guest }: Target, server: OidcServer, auth = '/api/v1/auth/people') {
  const path = `${auth}/oauth2`;
  const authorize = async (more: Readonly<Record<string, string>> = {}): Promise<string> => {
    const query = queryOf({ provider, redirectUri, state: randomUUID(), ...more });
    const { status, json, text } = await guest.send('GET', `${path}/authorize?${query}`);
    assert.equal(status, 200, text);
    return textAt(json, 'data.authorize_url');
  };
  /** Visits the provider. Returns the body from the exchange that follows. */
  const visit = async (person: Person, more: Readonly<Record<string, string>> = {}) => {
    const arrival = await server.visit(await authorize(more), person);
    return { provider, redirectUri, ...arrival };
  };
  const exchange = (body: object): Promise<Answer> => guest.send('POST', `${path}/exchange`, { body });
  const signIn = async (person: Person): Promise<Answer> => exchange(await visit(person));
  const as = (token: string): Client => createClient(url, token);
  return {
    authorize,
    visit,
    exchange,
    signIn,
    as,
    async register(email: string) {
      const data = await guest.post(`${auth}/register`, { email, password });
      return { id: textAt(data, 'record.id'), token: textAt(data, 'token') };
    },
    merge: (body: object, client = guest): Promise<Answer> => client.send('POST', `${path}/merge-confirm`, { body }),
    mergeTokenFor: async (person: Person): Promise<string> => textAt((await signIn(person)).json, 'merge_token'),
    unlink: (token: string): Promise<Answer> => as(token).send('DELETE', `${path}/${provider}/unlink`),
  };
}
