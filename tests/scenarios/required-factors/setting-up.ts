import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Answer } from '../../harness/clients/client.ts';
import { at, listAt, objectAt, textAt } from '../../harness/json.ts';
import { createAuthenticator, type Deviation, flag } from '../../harness/sign-in/authenticator.ts';
import { auth, newEmail, type Officers, password, required, settingsPath, tokenIn } from './officers.ts';

const unverified = { flags: flag.present | flag.copyable | flag.copied };
const made = { flags: unverified.flags | flag.hasKey };
const statusAndCode = ({ status, json }: Answer) => [status, at(json, 'code')];

/** A sign-in sets a second factor up, and is then complete. */
export async function settingUp(t: TestContext, officers: Officers): Promise<void> {
  const { admin, guest, as, set, login, commission, begin, enrollApp } = officers;

  await t.test('others sign in as before; at the next sign-in the token says what is missing', async () => {
    const other = newEmail();
    await guest.post(`${auth}/register`, { email: other, password, rank: 'private' });
    assert.equal((await login(other)).status, 200);
    assert.notEqual(textAt((await login(other)).json, 'data.token'), '');
    const { email } = await commission();
    assert.match(await begin(email), /^[\w-]{43}$/);
    assert.equal(
      (await guest.send('POST', `${auth}/login`, { body: { email, password: 'wrong' } })).status,
      401,
      'only after a right password',
    );
  });

  await t.test('an authenticator app completes the sign-in, with both factors', async () => {
    const { email } = await commission();
    const { answer, code } = await enrollApp(await begin(email));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(listAt(objectAt(answer.json, 'data'), 'codes').length, 10);
    assert.equal(at(answer.json, 'data.record.badge'), 'b', 'the session has both factors');
    const session = as(textAt(answer.json, 'data.token'));
    assert.equal((await session.send('POST', '/api/v1/auth/refresh')).status, 200);
    const again = await login(email);
    assert.equal(at(again.json, 'data.mfa_required'), true);
    assert.equal(at(again.json, 'data.factors'), undefined, 'without it, the app is asked');
    const wrong = { mfa_token: textAt(again.json, 'data.mfa_token'), code };
    assert.equal((await guest.send('POST', `${auth}/login/mfa`, { body: wrong })).status, 401, 'the code is used');
  });

  await t.test('a passkey does too, as the body names the token; then it opens the account alone', async () => {
    const { email } = await commission();
    const enrollment_token = await begin(email);
    const key = createAuthenticator();
    const options = await guest.post(`${auth}/passkeys/register/options`, { enrollment_token }, 200);
    const body = { ...key.create(options), enrollment_token };
    const added = await guest.send('POST', `${auth}/passkeys/register/verify`, { body });
    assert.equal(added.status, 201, added.text);
    assert.equal(at(added.json, 'data.record.badge'), 'b');
    assert.equal(at(added.json, 'data.name'), 'Passkey');
    assert.equal((await as(textAt(added.json, 'data.token')).send('GET', `${auth}/passkeys`)).status, 200);
    const signIn = async (deviation: Deviation = {}) => {
      const wanted = await guest.post(`${auth}/passkeys/login/options`, {}, 200);
      return guest.send('POST', `${auth}/passkeys/login/verify`, { body: key.get(wanted, deviation) });
    };
    assert.notEqual(textAt((await signIn()).json, 'data.token'), '', 'a verified user is both factors');
    tokenIn(await signIn(unverified));
    const byPassword = await login(email);
    assert.deepEqual(at(byPassword.json, 'data.factors'), ['passkey'], 'a password alone sets nothing more up');
    const mfa_token = textAt(byPassword.json, 'data.mfa_token');
    const finish = (more: object) => guest.send('POST', `${auth}/login/mfa`, { body: { mfa_token, ...more } });
    assert.deepEqual(statusAndCode(await finish({ code: '123456' })), [401, 'invalid_code']);
    const passkey = async (used: typeof key) => ({
      passkey: used.get(await guest.post(`${auth}/passkeys/login/options`, {}, 200), unverified),
    });
    const stranger = await commission();
    const other = createAuthenticator();
    const strange = await begin(stranger.email);
    const wanted = await as(strange).post(`${auth}/passkeys/register/options`, {}, 200);
    await as(strange).post(`${auth}/passkeys/register/verify`, other.create(wanted));
    assert.deepEqual(statusAndCode(await finish(await passkey(other))), [401, 'invalid_code'], "another's passkey");
    const finished = await finish(await passkey(key));
    assert.equal(finished.status, 200, finished.text);
    assert.equal(at(finished.json, 'data.record.badge'), 'b');
  });

  await t.test('a passkey that did not verify its user needs another factor beside it', async () => {
    const { email } = await commission();
    const key = createAuthenticator();
    const first = await begin(email);
    const wanted = await as(first).post(`${auth}/passkeys/register/options`, {}, 200);
    await as(first).post(`${auth}/passkeys/register/verify`, key.create(wanted, made));
    const options = await guest.post(`${auth}/passkeys/login/options`, {}, 200);
    const token = tokenIn(
      await guest.send('POST', `${auth}/passkeys/login/verify`, { body: key.get(options, unverified) }),
    );
    const more = await as(token).post(`${auth}/passkeys/register/options`, {}, 200);
    const body = createAuthenticator().create(more, made);
    assert.equal((await as(token).send('POST', `${auth}/passkeys/register/verify`, { body })).status, 422);
    assert.equal((await enrollApp(token)).answer.status, 200);
  });

  await t.test('a session sets a factor up as before, and an admin who acts as the user is not asked', async () => {
    const { session, id } = await commission();
    const acting = textAt(await admin.post(`/api/v1/admin/impersonate/officers/${id}`, undefined, 200), 'token');
    assert.notEqual(textAt((await as(acting).send('POST', '/api/v1/auth/refresh')).json, 'data.token'), '');
    const { answer } = await enrollApp(session);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(at(answer.json, 'data.token'), undefined);
  });

  await t.test('a registration and a promotion are asked, anonymous users are not', async () => {
    await admin.patch(settingsPath, { 'auth.anonymous.enabled': '1', [required]: 'id != null' });
    const email = newEmail();
    const registered = await guest.send('POST', `${auth}/register`, { body: { email, password } });
    assert.equal(registered.status, 201);
    assert.match(textAt(registered.json, 'data.enrollment_token'), /^[\w-]{43}$/);
    assert.equal((await enrollApp(textAt(registered.json, 'data.enrollment_token'))).answer.status, 200);
    const visitor = await guest.post(`${auth}/anonymous`, {});
    const promoted = await as(textAt(visitor, 'token')).send('POST', `${auth}/promote`, {
      body: { email: newEmail(), password },
    });
    const { answer } = await enrollApp(tokenIn(promoted));
    assert.equal(at(answer.json, 'data.record.id'), at(visitor, 'record.id'));
    await set('rank = "chief"');
  });
}
