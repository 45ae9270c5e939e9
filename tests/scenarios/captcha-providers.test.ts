import assert from 'node:assert/strict';
import type { Answer } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { objectAt, textAt } from '../harness/json.ts';
import { startCannedServer } from '../harness/servers/canned-server.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { newAccounts } from './solve-captcha.ts';

const settingsPath = '/api/v1/admin/settings';
const account = newAccounts('widget');
const codeOf = ({ json }: Answer): string => textAt(json, 'code');

onEachTopology('a captcha provider verifies answers', async (t, target) => {
  const { guest } = target;
  const admin = await target.admin();
  const server = await startCannedServer();
  t.after(() => server[Symbol.asyncDispose]());
  await admin.post('/api/v1/collections', { name: 'widgets', type: 'auth', fields: [] });
  const body = account();
  await admin.post('/api/v1/widgets', body);
  const says = (answer: object, status = 200) => server.answer({ '/verify': { status, body: JSON.stringify(answer) } });
  await admin.patch(settingsPath, {
    'hooks.http.allow': '127.0.0.1',
    'auth.otp.enabled': '1',
    'auth.captcha.widgets.secret': 'the-secret',
  });
  const asks = (more: object) =>
    admin.patch(settingsPath, {
      'auth.captcha.widgets': JSON.stringify({
        provider: 'turnstile',
        on: ['register', 'otp', 'reset', 'login'],
        hostnames: ['app.example.com'],
        verify_url: `${server.url}/verify`,
        ...more,
      }),
    });
  await asks({});
  const register = (captcha: string) =>
    guest.send('POST', '/api/v1/auth/widgets/register', { body: account({ captcha }) });
  const login = (captcha: string) => guest.send('POST', '/api/v1/auth/widgets/login', { body: { ...body, captcha } });
  const good = { success: true, hostname: 'app.example.com' };
  says({ success: false, 'error-codes': ['invalid-input-response'] });
  await eventually('the setting applies', async () => (await register('wrong')).status === 422);

  await t.test('201: an answer that the provider accepts, with the secret and the address [auth §10.4]', async () => {
    says(good);
    assert.equal((await register('first')).status, 201);
    assert.match(server.received.join(), /secret=the-secret&response=first&remoteip=/);
  });

  await t.test('422: an answer that the provider refuses, or that was used [auth §10.4]', async () => {
    says({ success: false, 'error-codes': ['timeout-or-duplicate'] });
    assert.equal(codeOf(await register('second')), 'captcha_failed');
    says(good);
    assert.equal(codeOf(await register('first')), 'captcha_failed');
    assert.equal(codeOf(await login('first')), 'captcha_failed', 'at another door');
  });

  await t.test('422: an answer from another site [auth §10.4]', async () => {
    says({ success: true, hostname: 'evil.example.com' });
    assert.equal(codeOf(await register('third')), 'captcha_failed');
  });

  await t.test('while the provider fails, sign-up is closed and sign-in open [auth §10.4]', async () => {
    for (const [answer, status] of [
      [{ success: false, 'error-codes': ['internal-error'] }, 200],
      [{ success: false, 'error-codes': ['invalid-input-secret'] }, 200],
      [{}, 500],
      [[], 200],
    ] as const) {
      says(answer, status);
      const refused = await register('fourth');
      assert.equal(refused.status, 503, refused.text);
      assert.equal((await login('fourth')).status, 200);
    }
    server.answer({ '/verify': 'cut' });
    assert.equal((await register('fifth')).status, 503);
    assert.equal((await login('fifth')).status, 200);
  });

  await t.test('the setting says which doors stay open meanwhile [auth §10.1]', async () => {
    says({}, 500);
    await asks({ open: [] });
    await eventually('the sign-in is closed', async () => (await login('sixth')).status === 503);
    await asks({ open: ['register'] });
    await eventually('the sign-up is open', async () => (await register('seventh')).status === 201);
    assert.equal((await login('seventh')).status, 503);
    says({ success: false });
    assert.equal(codeOf(await register('eighth')), 'captcha_failed', 'an open door still refuses a wrong answer');
    await asks({});
    says({}, 500);
    await eventually('the default is back', async () => (await login('eighth')).status === 200);
  });

  await t.test('a request for a mail asks too [auth §10.1]', async () => {
    await using mail = await startMailServer();
    await admin.patch(settingsPath, mail.settings);
    const ask = (route: string, more: object) =>
      guest.send('POST', `/api/v1/auth/widgets/${route}`, { body: { email: body.email, ...more } });
    await eventually('codes are mailed', async () => codeOf(await ask('otp/request', {})) === 'captcha_required');
    await admin.post('/api/v1/collections', { name: 'strangers', type: 'auth', create_rule: null, fields: [] });
    const stranger = await guest.send('POST', '/api/v1/auth/strangers/register', { body: account() });
    const headers = { authorization: `Bearer ${textAt(stranger.json, 'data.token')}` };
    for (const route of ['otp/request', 'request-password-reset', 'request-verify-of']) {
      assert.equal(codeOf(await ask(route, {})), 'captcha_required', route);
      const signedIn = await guest.send('POST', `/api/v1/auth/widgets/${route}`, {
        body: { email: body.email },
        headers,
      });
      assert.equal(codeOf(signedIn), 'captcha_required', `${route} for a user`);
      says({ success: false });
      assert.equal(codeOf(await ask(route, { captcha: 'wrong' })), 'captcha_failed', route);
      says({}, 500);
      assert.equal((await ask(route, { captcha: 'unknown' })).status, 503, route);
      says(good);
      assert.equal((await ask(route, { captcha: `for ${route}` })).status, 200, route);
    }
    assert.equal((await guest.get('/api/v1/auth/widgets/captcha')).status, 404, 'only proof of work has challenges');
  });

  await t.test('the setting follows a renamed collection [auth §10.1]', async () => {
    await admin.patch('/api/v1/collections/widgets', { name: 'gadgets' });
    const answer = await eventually('the new name applies', async () => {
      const one = await guest.send('POST', '/api/v1/auth/gadgets/login', { body });
      return one.status === 422 && one;
    });
    assert.equal(codeOf(answer), 'captcha_required');
    const { json } = await admin.get(settingsPath);
    assert.equal(objectAt(json, 'data')['auth.captcha.gadgets.secret'], 'the-secret');
  });
});
