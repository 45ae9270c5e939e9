import assert from 'node:assert/strict';
import { createClient as createLibraryClient, memoryStore } from '@recordbus/client';
import { startCannedServer } from '../harness/canned-server.ts';
import type { Answer } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt, textAt } from '../harness/json.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { onEachTopology } from '../harness/target.ts';
import { solveCaptcha } from './solve-captcha.ts';

const settingsPath = '/api/v1/admin/settings';
const password = 'a long and winding password';
let accounts = 0;
const account = (more: object = {}) => {
  accounts += 1;
  return { email: `person${accounts}@example.com`, password, ...more };
};

const codeOf = ({ json }: Answer): string => textAt(json, 'code');

onEachTopology('guests solve a proof of work before they sign up', async (t, target) => {
  const { guest } = target;
  const admin = await target.admin();
  for (const name of ['guarded', 'other'])
    await admin.post('/api/v1/collections', { name, type: 'auth', create_rule: null, fields: [] });
  const captcha = (value: object | '') =>
    admin.patch(settingsPath, { 'auth.captcha.guarded': value === '' ? '' : JSON.stringify(value) });
  const register = (body: object) => guest.send('POST', '/api/v1/auth/guarded/register', { body });
  await captcha({ provider: 'altcha', on: ['register'] });
  await admin.patch(settingsPath, { 'auth.anonymous.enabled': '1' });
  await eventually('the setting applies', async () => (await register(account())).status === 422);

  await t.test('422: without one, and the answer says how [auth §10.1]', async () => {
    const answer = await register(account());
    assert.equal(codeOf(answer), 'captcha_required');
    assert.match(textAt(answer.json, 'details.captcha'), /X-Captcha/);
  });

  await t.test('201: with one, in the body or the header [auth §10.1]', async () => {
    assert.equal((await register(account({ captcha: await solveCaptcha(guest, 'guarded') }))).status, 201);
    const headers = { 'X-Captcha': await solveCaptcha(guest, 'guarded') };
    const answer = await guest.send('POST', '/api/v1/auth/guarded/register', { body: account(), headers });
    assert.equal(answer.status, 201, answer.text);
  });

  await t.test('one solution counts once, also for a hundred at once [auth §10.1]', async () => {
    const solved = await solveCaptcha(guest, 'guarded');
    const answers = await Promise.all(Array.from({ length: 20 }, () => register(account({ captcha: solved }))));
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 201).length, 1);
    for (const answer of answers.filter(({ status }) => status !== 201)) assert.equal(codeOf(answer), 'captcha_failed');
  });

  await t.test("422: forged, expired, for another collection, or with another's number [auth §10.1]", async () => {
    const solved = await solveCaptcha(guest, 'guarded');
    const given = JSON.parse(Buffer.from(solved, 'base64').toString());
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
    await captcha({ provider: 'altcha', on: ['register'] });
    await admin.patch(settingsPath, { 'auth.captcha.other': '{"provider":"altcha","on":["login"]}' });
    const elsewhere = await eventually('the other collection asks', async () => {
      const { status } = await guest.get('/api/v1/auth/other/captcha');
      return status === 200 && solveCaptcha(guest, 'other');
    });
    const wrong: Readonly<Record<string, unknown>> = {
      'another number': encode({ ...given, number: given.number + 1 }),
      'another signature': encode({ ...given, signature: '0'.repeat(64) }),
      'another salt': encode({ ...given, salt: `x${given.salt}` }),
      'another algorithm': encode({ ...given, algorithm: 'SHA-1' }),
      'digits moved into the salt': encode({ ...given, salt: `${given.salt}${String(given.number)[0]}` }),
      'another collection': elsewhere,
      'no JSON': Buffer.from('{').toString('base64'),
      null: encode(null),
      text: 'x',
      long: 'a'.repeat(1_000_000),
      'a number': 5,
    };
    for (const [why, answer] of Object.entries(wrong)) {
      const { status, json } = await register(account({ captcha: answer }));
      assert.equal(status, 422, why);
      assert.match(textAt(json, 'code'), /^captcha_(failed|required)$/, why);
    }
    assert.equal((await register(account({ captcha: solved }))).status, 201, 'none of these used it up');
  });

  await t.test('every other way to a new account asks too [auth §10.3]', async () => {
    const ask = async (method: 'POST' | 'PUT', path: string, body: object) => {
      const answer = await guest.send(method, path, { body });
      assert.equal(codeOf(answer), 'captcha_required', `${method} ${path} ${answer.text}`);
    };
    await ask('POST', '/api/v1/guarded', account());
    await ask('PUT', '/api/v1/guarded?on=email', account());
    await ask('POST', '/api/v1/auth/guarded/anonymous', {});
    const create = { op: 'create', collection: 'guarded', data: account() };
    const batch = await guest.send('POST', '/api/v1/batch', { body: { operations: [create] } });
    assert.equal(batch.status, 422, batch.text);
    assert.match(batch.text, /captcha_required/);
    const created = await guest.send('POST', '/api/v1/guarded', {
      body: account({ captcha: await solveCaptcha(guest, 'guarded') }),
    });
    assert.equal(created.status, 201, created.text);
  });

  await t.test('an anonymous user solves one to be promoted [auth §10.3]', async () => {
    const anonymous = await guest.send('POST', '/api/v1/auth/guarded/anonymous', {
      body: { captcha: await solveCaptcha(guest, 'guarded') },
    });
    assert.equal(anonymous.status, 201, anonymous.text);
    const headers = { authorization: `Bearer ${textAt(anonymous.json, 'data.token')}` };
    const promote = (body: object) => guest.send('POST', '/api/v1/auth/guarded/promote', { body, headers });
    assert.equal(codeOf(await promote(account())), 'captcha_required');
    const direct = await guest.send('POST', '/api/v1/guarded', { body: account(), headers });
    assert.equal(codeOf(direct), 'captcha_required', 'nor does its token open the records API');
    assert.equal((await promote(account({ captcha: await solveCaptcha(guest, 'guarded') }))).status, 200);
  });

  await t.test('an account, of this or another collection, spares its user no captcha [auth §10.1]', async () => {
    await captcha({ provider: 'altcha', on: ['register', 'login'] });
    const known = account();
    await admin.post('/api/v1/guarded', known);
    const stranger = await guest.send('POST', '/api/v1/auth/other/register', { body: account() });
    const own = await guest.send('POST', '/api/v1/auth/guarded/login', {
      body: { ...known, captcha: await solveCaptcha(guest, 'guarded') },
    });
    for (const { json } of [stranger, own]) {
      const headers = { authorization: `Bearer ${textAt(json, 'data.token')}` };
      const send = (path: string, body: object) => guest.send('POST', path, { body, headers });
      assert.equal(codeOf(await send('/api/v1/auth/guarded/register', account())), 'captcha_required');
      assert.equal(codeOf(await send('/api/v1/guarded', account())), 'captcha_required');
      await eventually('the sign-in asks', async () => {
        const { status, text } = await send('/api/v1/auth/guarded/login', known);
        return status === 422 && text.includes('captcha_required');
      });
    }
    await captcha({ provider: 'altcha', on: ['register'] });
    await eventually('only sign-ups are asked', async () => {
      const { status } = await guest.send('POST', '/api/v1/auth/guarded/login', { body: known });
      return status === 200;
    });
  });

  await t.test('a repeated request has its first answer [auth §10.3]', async () => {
    const body = account({ captcha: await solveCaptcha(guest, 'guarded') });
    const headers = { 'Idempotency-Key': `captcha-${accounts}` };
    const first = await guest.send('POST', '/api/v1/guarded', { body, headers });
    const again = await guest.send('POST', '/api/v1/guarded', { body, headers });
    assert.deepEqual([first.status, again.status], [201, 201], again.text);
    assert.equal(textAt(again.json, 'data.id'), textAt(first.json, 'data.id'));
  });

  await t.test('admins and other doors are not asked [auth §10.1]', async () => {
    const body = account();
    assert.equal((await admin.send('POST', '/api/v1/guarded', { body })).status, 201);
    assert.equal((await guest.send('POST', '/api/v1/auth/guarded/login', { body })).status, 200);
  });

  await t.test('the client library solves one [auth §10.2]', async () => {
    const client = createLibraryClient(target.url, { store: memoryStore() });
    const users = client.auth('guarded');
    const captcha = await users.captcha();
    const { state } = await users.register(account(), { captcha });
    assert.equal(state, 'signed_in');
  });

  await t.test('a field called captcha keeps its value, and the header counts [auth §10.1]', async () => {
    await admin.post('/api/v1/collections/guarded/fields', { name: 'captcha', type: 'text' });
    const headers = { 'X-Captcha': await solveCaptcha(guest, 'guarded') };
    const answer = await guest.send('POST', '/api/v1/auth/guarded/register', {
      body: account({ captcha: 'mine' }),
      headers,
    });
    assert.equal(at(answer.json, 'data.record.captcha'), 'mine', answer.text);
    await admin.send('DELETE', '/api/v1/collections/guarded/fields/captcha');
  });

  await t.test('without the setting nothing is asked, and there is no challenge [auth §10.2]', async () => {
    await captcha('');
    await eventually('the setting applies', async () => (await register(account())).status === 201);
    assert.equal((await guest.get('/api/v1/auth/guarded/captcha')).status, 404);
    assert.equal((await register(account({ captcha: 'anything' }))).status, 201, 'a client may always send it');
  });

  await t.test('422: settings that say something else [auth §10.1]', async () => {
    const refuse = async (value: object, message: RegExp) => {
      const body = { 'auth.captcha.guarded': JSON.stringify(value) };
      const { status, text } = await admin.send('PATCH', settingsPath, { body });
      assert.equal(status, 422);
      assert.match(text, message);
    };
    await refuse({ provider: 'recaptcha', on: ['login'] }, /altcha, turnstile or hcaptcha/);
    await refuse({ provider: 'altcha', on: [] }, /register, otp, reset, login/);
    await refuse({ provider: 'altcha', on: ['signup'] }, /register, otp, reset, login/);
    await refuse({ provider: 'altcha', on: ['login', 'login'] }, /twice/);
    await refuse({ provider: 'turnstile', on: ['login'], secret: 'x' }, /unknown secret/);
    await refuse({ provider: 'altcha', on: ['login'], verify_url: 'https://x.example.com' }, /verify_url/);
  });
});

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
