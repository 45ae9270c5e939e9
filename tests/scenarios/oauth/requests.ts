import type { TestContext } from 'node:test';
import { is } from '../../harness/matching.ts';
import { type OidcServer, redirectUri } from '../../harness/oidc-server.ts';
import { refused } from '../../harness/refusals.ts';
import { runScenarios } from '../../harness/scenario.ts';
import type { Target } from '../../harness/target.ts';
import { challengeOf, password, path, provider, queryOf } from './visitor.ts';

const notEnabled = { status: 422, json: { error: is.text, code: 'oauth_provider_not_enabled' } };

/** Answers before anyone visits the provider; also sets the provider up. */
export async function requests(t: TestContext, target: Target, server: OidcServer): Promise<void> {
  const wish = { provider, redirectUri, state: 's' };
  const brought = { provider, redirectUri, code: 'c' };
  const authorizeRow = (name: string, members: Readonly<Record<string, string>>, expect: { status: number }) => ({
    name,
    request: `GET ${path}/authorize?${queryOf(members)}`,
    expect,
    spec: 'oauth §2',
  });
  const without = (members: Readonly<Record<string, string>>, gone: string) =>
    Object.fromEntries(Object.entries(members).filter(([name]) => name !== gone));

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
      name: 'no provider is enabled at first',
      request: `GET ${path}/providers`,
      expect: { status: 200, json: { data: [] } },
      spec: 'oauth §1.3',
    },
    authorizeRow('a provider that is not enabled', wish, notEnabled),
    authorizeRow('a provider that nobody knows', { ...wish, provider: 'myspace' }, notEnabled),
    {
      name: 'nor is anything exchanged with it',
      request: `POST ${path}/exchange`,
      body: brought,
      expect: notEnabled,
      spec: 'oauth §1.2',
    },
    {
      name: 'it is set up',
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
      name: 'it is there at once; one without a secret is not',
      request: `GET ${path}/providers`,
      expect: { status: 200, json: { data: [{ name: 'oidc', displayName: 'OpenID Connect' }] } },
      spec: 'oauth §1.2',
    },
    ...['provider', 'redirectUri', 'state'].map((name) =>
      authorizeRow(`${name} is missing`, without(wish, name), refused.malformedWith({ [name]: is.text })),
    ),
    ...malformed.map((members) =>
      authorizeRow(
        `${JSON.stringify(members).slice(0, 60)} is malformed`,
        { ...wish, ...members },
        refused.malformedWith(is.containing({})),
      ),
    ),
    ...['provider', 'redirectUri', 'code'].map((name) => ({
      name: `exchange: ${name} is missing`,
      request: `POST ${path}/exchange`,
      body: without(brought, name),
      expect: refused.malformedWith({ [name]: is.text }),
      spec: 'oauth §3.1',
    })),
    ...[{ code_verifier: 'short' }, { state: 5 }, { code: '' }].map((members) => ({
      name: `exchange: ${JSON.stringify(members)} is malformed`,
      request: `POST ${path}/exchange`,
      body: { ...brought, ...members },
      expect: refused.malformedWith(is.containing({})),
      spec: 'oauth §3.1',
    })),
    {
      name: 'a code that the provider does not know: its words are told',
      request: `POST ${path}/exchange`,
      body: brought,
      expect: {
        status: 422,
        json: { error: is.text, code: 'oauth_refused', details: { provider: is.matching(/^invalid_grant/) } },
      },
      spec: 'oauth §7',
    },
    {
      name: 'merge-confirm without anything',
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
      name: 'merge-confirm with a session that is none',
      request: `POST ${path}/merge-confirm`,
      headers: { Authorization: 'Bearer x' },
      body: { merge_token: 'x' },
      expect: refused.unauthenticated,
      spec: 'oauth §5.3',
    },
    {
      name: 'merge-confirm with a token that nobody issued',
      request: `POST ${path}/merge-confirm`,
      body: { merge_token: 'x', password },
      expect: refused.invalidCredentials,
      spec: 'oauth §5.3',
    },
    {
      name: 'a guest has nothing to unlink',
      request: `DELETE ${path}/oidc/unlink`,
      expect: refused.unauthenticated,
      spec: 'http §6.2',
    },
    {
      name: 'an admin neither',
      as: 'admin',
      request: `DELETE ${path}/oidc/unlink`,
      expect: refused.forbidden,
      spec: 'http §6.3',
    },
    {
      name: 'a user of another collection neither',
      as: 'user',
      request: `DELETE ${path}/oidc/unlink`,
      expect: refused.forbidden,
      spec: 'auth §1.1',
    },
    ...['GET /providers', `GET /authorize?${queryOf(wish)}`, 'POST /exchange', 'POST /merge-confirm'].map(
      (request) => ({
        name: `${request.slice(0, 20)} of a collection without users`,
        request: request.replace(' ', ' /api/v1/auth/plain/oauth2'),
        expect: refused.notFound,
        spec: 'auth §1.1',
      }),
    ),
  ]);
}
