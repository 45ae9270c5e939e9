import assert from 'node:assert/strict';
import { type Answer, type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt, textAt } from '../harness/json.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { createAuthenticator, type Deviation, flag } from '../harness/sign-in/authenticator.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { followedEverywhere } from '../harness/stacks/followed-settings.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const password = 'a long and winding password';
const auth = '/api/v1/auth/couriers';
const settingsPath = '/api/v1/admin/settings';
const statusAndCode = ({ status, json }: Answer) => [status, at(json, 'code')];
const wrongFor = (code: string): string => (code === '000000' ? '000001' : '000000');
let people = 0;

onEachTopology('a mailed code is the second factor [auth §6.11]', async (t, target) => {
  const admin = followedEverywhere(await target.admin());
  const { guest } = target;
  await admin.post('/api/v1/collections', { name: 'couriers', type: 'auth', create_rule: null });
  await using mail = await startMailServer();
  const as = (token: string): Client => createClient(target.url, token);
  const register = async () => {
    people += 1;
    const email = `courier${people}@example.com`;
    const { token, record } = await guest.post(`${auth}/register`, { email, password });
    return { email, session: String(token), id: textAt(record, 'id') };
  };
  const login = (email: string) => guest.send('POST', `${auth}/login`, { body: { email, password } });
  const codeFor = async (email: string, count = 1): Promise<string> =>
    (await mail.mailTo(email, { subject: 'The second step', count })).code ?? assert.fail('no code in the mail');
  const begin = async (email: string, count = 1) => {
    const { status, json, text } = await login(email);
    assert.equal(status, 200, text);
    assert.deepEqual(at(json, 'data.factors'), ['email'], text);
    return { mfa_token: textAt(json, 'data.mfa_token'), code: await codeFor(email, count) };
  };
  const finish = (body: object) => guest.send('POST', `${auth}/login/mfa`, { body });
  await admin.patch(settingsPath, { 'auth.mfa.email.couriers': '1', 'email.mfa.subject': 'The second step' });

  await t.test('422 after a right password while mail is not configured, and 401 after a wrong one', async () => {
    await admin.patch(settingsPath, { 'smtp.enabled': '0' });
    const { email } = await register();
    assert.deepEqual(statusAndCode(await login(email)), [422, 'mail_not_configured']);
    const body = { email, password: 'wrong' };
    assert.equal((await guest.send('POST', `${auth}/login`, { body })).status, 401);
    await admin.patch(settingsPath, mail.settings);
  });

  await t.test('it is mailed by itself, and completes the sign-in once', async () => {
    const { email } = await register();
    const { mfa_token, code } = await begin(email);
    assert.deepEqual(statusAndCode(await finish({ mfa_token, code: wrongFor(code) })), [401, 'invalid_code']);
    const answers = await Promise.all(Array.from({ length: 4 }, () => finish({ mfa_token, code })));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    assert.ok(answers.every(({ status }) => [200, 401].includes(status)));
    assert.deepEqual(statusAndCode(await finish({ mfa_token, code })), [401, 'invalid_token']);
  });

  await t.test('a code belongs to its sign-in and its account', async () => {
    const [one, two] = [await register(), await register()];
    const [first, second] = [await begin(one.email), await begin(two.email)];
    if (first.code !== second.code)
      assert.deepEqual(statusAndCode(await finish({ ...first, code: second.code })), [401, 'invalid_code']);
    const later = await begin(one.email, 2);
    assert.equal((await finish(first)).status, 200, 'the earlier sign-in is still open');
    assert.equal((await finish(later)).status, 200);
    const { mfa_token } = second;
    assert.equal((await finish({ mfa_token, recovery_code: 'ABCD-EFGH' })).status, 401);
  });

  await t.test('five wrong codes end the sign-in, and ten the account for a while', async () => {
    const { email } = await register();
    const { mfa_token, code } = await begin(email);
    for (let guess = 0; guess < 5; guess += 1) await finish({ mfa_token, code: wrongFor(code) });
    assert.equal((await finish({ mfa_token, code })).status, 401);
    const next = await begin(email, 2);
    for (let guess = 0; guess < 5; guess += 1) await finish({ ...next, code: wrongFor(next.code) });
    assert.equal((await finish(await begin(email, 3))).status, 429);
  });

  await t.test('429 after ten mails for an account', async () => {
    const { email } = await register();
    for (let count = 0; count < 10; count += 1) assert.equal((await login(email)).status, 200);
    assert.equal((await login(email)).status, 429);
  });

  await t.test('a passkey that did not verify its user asks for it, and one that did is both factors', async () => {
    const site = { 'auth.passkeys.rp_id': 'localhost', 'auth.passkeys.origins': 'http://localhost:*' };
    await admin.patch(settingsPath, site);
    const { email, session } = await register();
    const key = createAuthenticator();
    const options = await as(session).post(`${auth}/passkeys/register/options`, {}, 200);
    const added = await as(session).send('POST', `${auth}/passkeys/register/verify`, { body: key.create(options) });
    assert.equal(added.status, 201, added.text);
    const signIn = async (deviation: Deviation = {}) => {
      const wanted = await guest.post(`${auth}/passkeys/login/options`, {}, 200);
      return guest.send('POST', `${auth}/passkeys/login/verify`, { body: key.get(wanted, deviation) });
    };
    assert.equal(typeof at((await signIn()).json, 'data.token'), 'string');
    const first = await signIn({ flags: flag.present | flag.copyable | flag.copied });
    assert.deepEqual(at(first.json, 'data.factors'), ['email'], first.text);
    const mfa_token = textAt(first.json, 'data.mfa_token');
    const finished = await finish({ mfa_token, code: await codeFor(email) });
    assert.equal(typeof at(finished.json, 'data.token'), 'string', finished.text);
    await admin.patch(settingsPath, { 'auth.passkeys.rp_id': '', 'auth.passkeys.origins': '' });
  });

  await t.test('a registration, a new password and a refresh ask for no code', async () => {
    const { email, session } = await register();
    assert.equal(typeof at((await as(session).send('POST', '/api/v1/auth/refresh')).json, 'data.token'), 'string');
    const body = { old_password: password, password: `${password} 2` };
    const changed = await as(session).send('POST', `${auth}/change-password`, { body });
    assert.equal(typeof at(changed.json, 'data.token'), 'string', changed.text);
    const asked = mail.received.filter(
      ({ recipients, email: { subject } }) => recipients.includes(email) && subject === 'The second step',
    );
    assert.deepEqual(asked, []);
  });

  await t.test('never after a mailed code, which an app or the rule may still follow', async () => {
    await admin.patch(settingsPath, { 'auth.otp.enabled': '1' });
    const { email, session, id } = await register();
    await admin.patch(`/api/v1/couriers/${id}`, { verified: true });
    const signIn = async (count: number) => {
      await guest.post(`${auth}/otp/request`, { email }, 200);
      const { code } = await mail.mailTo(email, { subject: 'Your sign-in code', count });
      return guest.send('POST', `${auth}/otp/auth`, { body: { email, code } });
    };
    assert.notEqual(textAt((await signIn(1)).json, 'data.token'), '');
    await admin.patch(settingsPath, { 'auth.mfa.required.couriers': 'id != null' });
    const { json } = await signIn(2);
    assert.equal(at(json, 'data.mfa_enrollment_required'), true, 'the same mailbox is no second factor');
    await begin(email);
    await admin.patch(settingsPath, { 'auth.mfa.required.couriers': '' });
    const { secret } = (await as(session).post(`${auth}/totp/setup`, { old_password: password }, 200)) as {
      secret: string;
    };
    await as(session).post(`${auth}/totp/confirm`, { code: totpCode(secret) }, 200);
    assert.deepEqual(
      Object.keys(objectAt((await login(email)).json, 'data')),
      ['mfa_required', 'mfa_token'],
      'the app',
    );
    await admin.patch(settingsPath, { 'auth.otp.enabled': '0' });
  });

  await t.test("PocketBase's clients get an mfaId, and sign in with the code", async () => {
    await admin.patch(settingsPath, { 'pocketbase.enabled': '1' });
    const { email } = await register();
    const pb = '/pb/api/collections/couriers';
    const send = (path: string, body: object) => guest.send('POST', `${pb}/${path}`, { body });
    await eventually('the routes answer', async () => (await guest.get(`${pb}/auth-methods`)).status === 200);
    assert.equal(at((await guest.get(`${pb}/auth-methods`)).json, 'mfa.enabled'), true);
    const begun = await send('auth-with-password', { identity: email, password });
    assert.equal(begun.status, 401, begun.text);
    const mfaId = textAt(begun.json, 'mfaId');
    const asked = await send('request-otp', { email });
    assert.equal(asked.status, 200, asked.text);
    const otpId = textAt(asked.json, 'otpId');
    const code = await codeFor(email);
    assert.equal((await send('auth-with-otp', { otpId, password: wrongFor(code), mfaId })).status, 400);
    const finished = await send('auth-with-otp', { otpId, password: code, mfaId });
    assert.equal(finished.status, 200, finished.text);
    assert.equal(at(finished.json, 'record.email'), email);
    await admin.patch(settingsPath, { 'auth.otp.enabled': '1' });
    const again = textAt((await send('auth-with-password', { identity: email, password })).json, 'mfaId');
    const requested = textAt((await send('request-otp', { email })).json, 'otpId');
    const mailed = await mail.mailTo(email, { subject: 'Your sign-in code' });
    const other = await send('auth-with-otp', { otpId: requested, password: mailed.code, mfaId: again });
    assert.equal(other.status, 200, `the code that a client asks for counts as well: ${other.text}`);
    await admin.patch(settingsPath, { 'auth.mfa.email.couriers': '0', 'auth.mfa.required.couriers': 'id != null' });
    const refused = await send('auth-with-password', { identity: email, password });
    assert.equal(refused.status, 403, 'no client takes it for a session');
    assert.equal(objectAt(refused.json, 'data') !== undefined, true);
    assert.match(textAt(refused.json, 'enrollment_token'), /^[\w-]{43}$/);
    assert.equal(at(refused.json, 'mfa_enrollment_required'), true);
    await admin.patch(settingsPath, { 'auth.mfa.required.couriers': '', 'auth.otp.enabled': '0' });
  });
});
