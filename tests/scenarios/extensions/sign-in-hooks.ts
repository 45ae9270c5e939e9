import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Answer, type Client, createClient } from '../../harness/clients/client.ts';
import { createWebhook, webhooksPath } from '../../harness/clients/webhook.ts';
import { cataloguePath, validatorOf } from '../../harness/docs/event-catalogue.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt, textAt } from '../../harness/json.ts';
import { startMailServer } from '../../harness/servers/mail-server.ts';
import { redirectUri, startOidcServer } from '../../harness/servers/oidc-server.ts';
import { startReceiver } from '../../harness/servers/receiver.ts';
import { totpCode } from '../../harness/sign-in/totp.ts';
import { firstAdmin } from '../../harness/stacks/stack.ts';
import type { Target } from '../../harness/stacks/target.ts';

const password = 'correct horse battery staple';
const collection = 'door_users';
const path = `/api/v1/auth/${collection}`;
/** The hook refuses requests with this. */
const unwelcome = { 'User-Agent': 'unwelcome' };

/** Signs in with prepared credentials at each call. */
type SignIn = (headers: Readonly<Record<string, string>>) => Promise<Answer>;

/** Every sign-in runs its before hooks and then its after hooks. A refresh or an impersonation runs neither. */
export async function signInHooks(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  const { guest } = target;
  await admin.post('/api/v1/collections', { name: collection, type: 'auth' });
  await using mail = await startMailServer();
  await using provider = await startOidcServer();
  await enableSignIn(admin, guest, { ...mail.settings, ...provider.settings() });

  const post =
    (action: string, body: object | undefined, client = guest): SignIn =>
    (headers) =>
      client.send('POST', `${path}/${action}`, { headers, ...(body && { body }) });
  const register = async (email: string) => {
    const session = await guest.post(`${path}/register`, { email, password });
    return { id: textAt(session, 'record.id'), token: textAt(session, 'token') };
  };
  const mailed = async (email: string) => {
    await register(email);
    await guest.post(`${path}/otp/request`, { email }, 200);
    return mail.mailTo(email, { subject: 'Your sign-in code' });
  };
  const visited = async (person: { readonly id: string; readonly email: string }) => {
    const query = new URLSearchParams({ provider: 'oidc', redirectUri, state: 's' });
    const { json } = await guest.get(`${path}/oauth2/authorize?${query}`);
    const arrival = await provider.visit(textAt(json, 'data.authorize_url'), { ...person, email_verified: true });
    return { provider: 'oidc', redirectUri, ...arrival };
  };

  const flows: Readonly<Record<string, readonly [flow: string, prepare: () => Promise<SignIn>]>> = {
    registering: ['register', async () => post('register', { email: 'new@example.com', password })],
    'a password': [
      'password',
      async () => {
        await register('ada@example.com');
        return post('login', { email: 'ada@example.com', password });
      },
    ],
    'a code': [
      'otp',
      async () => post('otp/auth', { email: 'code@example.com', code: (await mailed('code@example.com')).code }),
    ],
    'a link': ['otp', async () => post('otp/auth', { token: (await mailed('link@example.com')).token })],
    OAuth2: ['oauth2', async () => post('oauth2/exchange', await visited({ id: 'fay', email: 'fay@example.com' }))],
    'OAuth2 with an existing account': [
      'oauth2',
      async () => {
        await register('ned@example.com');
        const exchange = await post('oauth2/exchange', await visited({ id: 'ned', email: 'ned@example.com' }))({});
        return post('oauth2/merge-confirm', { merge_token: textAt(exchange.json, 'merge_token'), password });
      },
    ],
    nothing: ['anonymous', async () => post('anonymous', undefined)],
    promotion: [
      'promote',
      async () => {
        const token = textAt((await post('anonymous', undefined)({})).json, 'data.token');
        return post('promote', { email: 'known@example.com', password }, createClient(target.url, token));
      },
    ],
    'a second factor': [
      'second_factor',
      async () => {
        const { token } = await register('two@example.com');
        const own = createClient(target.url, token);
        const secret = textAt(await own.post(`${path}/totp/setup`, undefined, 200), 'secret');
        await own.post(`${path}/totp/confirm`, { code: totpCode(secret) }, 200);
        const first = await post('login', { email: 'two@example.com', password })({});
        return post('login/mfa', { mfa_token: textAt(first.json, 'data.mfa_token'), code: totpCode(secret, 1) });
      },
    ],
  };
  const flowsOf = async (userId: string) =>
    Object.fromEntries(
      listAt((await guest.get(`/api/x/door/${userId}`)).json, 'data').map(({ key, value }) => [
        String(key).slice(userId.length + 1),
        value,
      ]),
    );
  for (const [name, [flow, prepare]] of Object.entries(flows))
    await t.test(
      `by ${name}: a refusal uses up no credential, a success reaches the after hook [extensions §3.1]`,
      async () => {
        const signIn = await prepare();
        const refusal = await signIn(unwelcome);
        assert.deepEqual([refusal.status, refusal.json], [403, { error: `no ${flow} here`, code: 'forbidden' }]);
        const answer = await signIn({});
        assert.ok(answer.status === 200 || answer.status === 201, answer.text);
        const called = await eventually(`the after hook of ${flow}`, async () => {
          const all = await flowsOf(textAt(answer.json, 'data.record.id'));
          return flow in all && all;
        });
        assert.equal(at(called[flow], 'collection'), collection);
        assert.equal('password' in called, flow === 'password', 'a first factor alone is not a sign-in');
      },
    );

  await t.test('a refusal names fields, even for a wrong password [extensions §3.1]', async () => {
    for (const action of ['register', 'login']) {
      const answer = await post(action, { email: 'eve@blocked.example', password: 'wrong' })({});
      const refusal = { error: 'not here', code: 'forbidden', details: { email: 'is blocked' } };
      assert.deepEqual([answer.status, answer.json], [403, refusal]);
    }
  });
  await t.test("a refresh, an impersonation and an admin's sign-in run no hooks [extensions §3.1]", async () => {
    const { id, token } = await register('old@example.com');
    const client = createClient(target.url, token);
    const refreshed = await client.send('POST', '/api/v1/auth/refresh', { headers: unwelcome });
    assert.equal(refreshed.status, 200, refreshed.text);
    const impersonation = await admin.send('POST', `/api/v1/admin/impersonate/${collection}/${id}`, {
      headers: unwelcome,
    });
    assert.equal(impersonation.status, 200, impersonation.text);
    const login = await guest.send('POST', '/api/v1/admin/login', { headers: unwelcome, body: firstAdmin });
    assert.equal(login.status, 200, login.text);
  });
  await t.test('the event is as the catalogue describes it [webhooks §10.4]', async () => {
    await using receiver = await startReceiver();
    const { id: webhook } = await createWebhook(admin, receiver.url, ['system.signed_in']);
    const { id } = await register('told@example.com');
    const sent = await eventually('it arrives', () =>
      receiver.deliveries.find(({ json }) => at(json, 'data.user_id') === id),
    );
    validatorOf(listAt((await admin.get(cataloguePath)).json, 'data'))(sent.json);
    await admin.delete(`${webhooksPath}/${webhook}`);
  });
  await t.test("one collection's hooks do not run for another", async () => {
    await admin.post('/api/v1/collections', { name: 'door_others', type: 'auth' });
    const body = { email: 'eve@blocked.example', password };
    assert.equal((await guest.send('POST', '/api/v1/auth/door_others/register', { body })).status, 201);
  });
  await t.test('a sign-in without hooks needs only the auth service [extensions §3.4]', async () => {
    const { records } = target.services;
    if (records) process.kill(records.pid, 'SIGSTOP');
    try {
      const body = { email: 'eve@blocked.example', password };
      assert.equal((await guest.send('POST', '/api/v1/auth/door_others/login', { body })).status, 200);
    } finally {
      if (records) process.kill(records.pid, 'SIGCONT');
    }
  });
  await t.test('clients cannot call them', async () => {
    assert.equal((await guest.send('POST', '/internal/sign-in-hooks', { body: {} })).status, 404);
  });
  await admin.patch('/api/v1/admin/settings', { 'smtp.enabled': '0' });
}

/** Enables every way to sign in and waits until the auth service follows. */
async function enableSignIn(admin: Client, guest: Client, settings: object): Promise<void> {
  const flows = { 'auth.otp.enabled': '1', 'auth.anonymous.enabled': '1' };
  await admin.patch('/api/v1/admin/settings', { ...flows, ...settings });
  await eventually('all ways to sign in are enabled', async () => {
    const { status } = await guest.send('POST', `${path}/otp/request`, { body: { email: 'nobody@example.com' } });
    const providers = listAt((await guest.get(`${path}/oauth2/providers`)).json, 'data');
    return status === 200 && providers.length > 0;
  });
}
