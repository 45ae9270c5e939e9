import assert from 'node:assert/strict';
import { createClient as createLibraryClient, memoryStore } from '@recordbus/client';
import type { Answer } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { newAccounts, solveCaptcha } from './solve-captcha.ts';

const settingsPath = '/api/v1/admin/settings';
const account = newAccounts('person');
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
    const headers = { 'Idempotency-Key': `captcha ${body.email}` };
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
