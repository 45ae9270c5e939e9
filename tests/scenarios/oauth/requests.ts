import type { TestContext } from 'node:test';
import { is } from '../../harness/matching.ts';
import { refused } from '../../harness/refusals.ts';
import { type OidcServer, redirectUri } from '../../harness/servers/oidc-server.ts';
import { runScenarios } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { challengeOf, password, path, provider, queryOf } from './visitor.ts';

const notEnabled = { status: 422, json: { error: is.text, code: 'oauth_provider_not_enabled' } };

/** Requests before a user visits the provider. Sets up the provider too. */
export async function requests(t: TestContext, target: Target, server: OidcServer): Promise<void> {
  const wanted = { provider, redirectUri, state: 's' };
  const credentials = { provider, redirectUri, code: 'c' };
  const authorizeRow = (name: string, members: Readonly<Record<string, string>>, expect: { status: number }) => ({
    name,
    request: `GET ${path}/authorize?${queryOf(members)}`,
    expect,
    spec: 'oauth §2',
  });
  const without = (members: Readonly<Record<string, string>>, removed: string) =>
    Object.fromEntries(Object.entries(members).filter(([name]) => name !== removed));

  const malformed: readonly Readonly<Record<string, string>>[] = [
    { redirectUri: '/signed-in' },
    { redirectUri: 'javascript:alert(1)' },
    { redirectUri: `${redirectUri}#here` },
    { redirectUri: `https://app.example.com/${'x'.repeat(2048)}` },
    { state: '' },
    { state: 'x'.repeat(1025) },
    { use_pkce: 'yes' },
    { code_challenge: challengeOf('v'), code_challenge_method: 'plain' },
    { code_challenge: challengeOf('v') },
    { code_challenge: 'short', code_challenge_method: 'S256' },
    { code_challenge_method: 'S256' },
    { code_challenge: challengeOf('v'), code_challenge_method: 'S256', use_pkce: '1' },
  ];
  await runScenarios(t, target, [
    {
      name: 'the list of providers, which is empty by default',
      request: `GET ${path}/providers`,
      expect: { status: 200, json: { data: [] } },
      spec: 'oauth §1.3',
    },
    authorizeRow('a provider that is not enabled', wanted, notEnabled),
    authorizeRow('an unknown provider', { ...wanted, provider: 'myspace' }, notEnabled),
    {
      name: 'an exchange with a provider that is not enabled',
      request: `POST ${path}/exchange`,
      body: credentials,
      expect: notEnabled,
      spec: 'oauth §1.2',
    },
    {
      name: 'the settings of the provider',
      as: 'admin',
      request: 'PATCH /api/v1/admin/settings',
      body: {
        ...server.settings(),
        'oauth2.google.enabled': '1',
        'oauth2.google.client_id': 'no-secret',
      },
      expect: { status: 200 },
      spec: 'settings §2',
    },
    {
      name: 'the list of providers, without one that has no secret',
      request: `GET ${path}/providers`,
      expect: { status: 200, json: { data: [{ name: 'oidc', displayName: 'OpenID Connect' }] } },
      spec: 'oauth §1.2',
    },
    ...['provider', 'redirectUri', 'state'].map((name) =>
      authorizeRow(`a missing ${name}`, without(wanted, name), refused.malformedWith({ [name]: is.text })),
    ),
    ...malformed.map((members) =>
      authorizeRow(
        `the malformed ${JSON.stringify(members).slice(0, 60)}`,
        { ...wanted, ...members },
        refused.malformedWith(is.containing({})),
      ),
    ),
    ...['provider', 'redirectUri', 'code'].map((name) => ({
      name: `an exchange without ${name}`,
      request: `POST ${path}/exchange`,
      body: without(credentials, name),
      expect: refused.malformedWith({ [name]: is.text }),
      spec: 'oauth §3.1',
    })),
    ...[{ code_verifier: 'short' }, { state: 5 }, { code: '' }].map((members) => ({
      name: `an exchange with the malformed ${JSON.stringify(members)}`,
      request: `POST ${path}/exchange`,
      body: { ...credentials, ...members },
      expect: refused.malformedWith(is.containing({})),
      spec: 'oauth §3.1',
    })),
    {
      name: 'a code that the provider refuses, with its error',
      request: `POST ${path}/exchange`,
      body: credentials,
      expect: {
        status: 422,
        json: { error: is.text, code: 'oauth_refused', details: { provider: is.matching(/^invalid_grant/) } },
      },
      spec: 'oauth §7',
    },
    {
      name: 'merge-confirm with an empty object',
      request: `POST ${path}/merge-confirm`,
      body: {},
      expect: refused.malformedWith({ merge_token: is.text }),
      spec: 'oauth §5.3',
    },
    {
      name: 'merge-confirm with neither password nor session',
      request: `POST ${path}/merge-confirm`,
      body: { merge_token: 'x' },
      expect: refused.malformedWith({ password: is.text }),
      spec: 'oauth §5.3',
    },
    {
      name: 'merge-confirm with an invalid session',
      request: `POST ${path}/merge-confirm`,
      headers: { Authorization: 'Bearer x' },
      body: { merge_token: 'x' },
      expect: refused.unauthenticated,
      spec: 'oauth §5.3',
    },
    {
      name: 'merge-confirm with an invalid token',
      request: `POST ${path}/merge-confirm`,
      body: { merge_token: 'x', password },
      expect: refused.invalidCredentials,
      spec: 'oauth §5.3',
    },
    {
      name: 'unlink by a guest',
      request: `DELETE ${path}/oidc/unlink`,
      expect: refused.unauthenticated,
      spec: 'http §6.2',
    },
    {
      name: 'unlink by an admin',
      as: 'admin',
      request: `DELETE ${path}/oidc/unlink`,
      expect: refused.forbidden,
      spec: 'http §6.3',
    },
    {
      name: 'unlink by a user of another collection',
      as: 'user',
      request: `DELETE ${path}/oidc/unlink`,
      expect: refused.forbidden,
      spec: 'auth §1.1',
    },
    ...['GET /providers', `GET /authorize?${queryOf(wanted)}`, 'POST /exchange', 'POST /merge-confirm'].map(
      (request) => ({
        name: `${request.slice(0, 20)} for a collection without users`,
        request: request.replace(' ', ' /api/v1/auth/plain/oauth2'),
        expect: refused.notFound,
        spec: 'auth §1.1',
      }),
    ),
  ]);
}
