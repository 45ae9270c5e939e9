import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Answer } from '../../harness/clients/client.ts';
import { at, listAt, objectAt } from '../../harness/json.ts';
import { totpCode } from '../../harness/sign-in/totp.ts';
import { auth, type Officers, password } from './officers.ts';

const statusAndCode = ({ status, json }: Answer) => [status, at(json, 'code')];

/** What the token of a sign-in opens that waits for a second factor. */
export async function tokens(t: TestContext, officers: Officers): Promise<void> {
  const { admin, guest, as, commission, begin, enrollApp } = officers;

  await t.test('the token opens nothing else, at any route, as bearer or in the body', async () => {
    const { email, id } = await commission();
    const token = await begin(email);
    const { json } = await guest.get('/api/v1/openapi.json');
    const mine = /\/auth\/\{collection\}\/(totp\/(setup|confirm)|passkeys\/register\/(options|verify))$/;
    let refused = 0;
    for (const [path, operations] of Object.entries(objectAt(json, 'paths')))
      for (const [method, operation] of Object.entries(operations as Record<string, object>)) {
        const isGuarded = Array.isArray(at(operation, 'security')) && listAt(operation, 'security').length > 0;
        if (mine.test(path) || !['get', 'post', 'put', 'patch', 'delete'].includes(method) || !isGuarded) continue;
        const url = path
          .replaceAll('{collection}', 'officers')
          .replaceAll('{id}', id)
          .replaceAll(/\{\w+\}/g, 'x');
        const sending = method === 'get' ? {} : { body: { enrollment_token: token, token, mfa_token: token } };
        const answer = await as(token).send(method.toUpperCase(), url, sending);
        const stranger = await as('x'.repeat(43)).send(method.toUpperCase(), url, sending);
        assert.equal(answer.status, stranger.status, `${method} ${path}: ${answer.text}`);
        if (answer.status === 401) refused += 1;
        assert.ok(answer.status >= 400 || !answer.text.includes(email), `${method} ${path}: ${answer.text}`);
      }
    assert.ok(refused > 50, `only ${refused} operations refused it`);
    for (const [route, body] of [
      ['login/mfa', { mfa_token: token, code: '123456' }],
      ['otp/auth', { token }],
      ['oauth2/merge-confirm', { merge_token: token, password }],
      ['confirm-password-reset', { token, password }],
      ['verify-email', { token }],
      ['confirm-email-change', { token }],
      ['undo-email-change', { token }],
    ] as const) {
      const { status } = await as(token).send('POST', `${auth}/${route}`, { body });
      assert.ok([401, 422].includes(status), `${route} ${status}`);
    }
    // There is no app yet, so nothing to disable or to recover.
    for (const [method, route] of [
      ['POST', 'totp/disable'],
      ['POST', 'totp/recovery/regenerate'],
      ['GET', 'totp/recovery/status'],
    ] as const) {
      const sending =
        method === 'GET' ? {} : { body: { enrollment_token: token, code: '123456', old_password: password } };
      for (const client of [as(token), guest])
        assert.equal((await client.send(method, `${auth}/${route}`, sending)).status, 401, route);
    }
    assert.equal((await enrollApp(token)).answer.status, 200, 'and still it sets up');
  });

  await t.test('it works once, also when used at once', async () => {
    const { email } = await commission();
    const token = await begin(email);
    const { secret } = (await as(token).post(`${auth}/totp/setup`, {}, 200)) as { secret: string };
    const body = { code: totpCode(secret) };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => as(token).send('POST', `${auth}/totp/confirm`, { body })),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    assert.ok(answers.every(({ status }) => [200, 401, 409, 422].includes(status)));
    for (const route of ['totp/setup', 'totp/confirm', 'passkeys/register/options', 'passkeys/register/verify'])
      assert.deepEqual(statusAndCode(await as(token).send('POST', `${auth}/${route}`, { body })), [
        401,
        'invalid_token',
      ]);
  });

  await t.test('two sign-ins wait beside each other; the first that finishes ends the other', async () => {
    const { email } = await commission();
    const [one, two] = [await begin(email), await begin(email)];
    assert.equal((await enrollApp(one)).answer.status, 200);
    assert.equal((await as(two).send('POST', `${auth}/totp/setup`, { body: {} })).status, 401);
  });

  await t.test('401: a wrong, a guessed or no token, before anything about the body', async () => {
    for (const token of ['x', 'x'.repeat(43), 'x'.repeat(64), `${'x'.repeat(5000)}`])
      for (const route of ['totp/setup', 'totp/confirm', 'passkeys/register/options', 'passkeys/register/verify']) {
        assert.equal((await as(token).send('POST', `${auth}/${route}`, { body: { code: 5 } })).status, 401);
        const body = { enrollment_token: token };
        assert.equal((await guest.send('POST', `${auth}/${route}`, { body })).status, 401);
        assert.equal((await guest.send('POST', `${auth}/${route}`, { body: { enrollment_token: 5 } })).status, 401);
        assert.equal((await guest.send('POST', `${auth}/${route}`)).status, 401);
      }
    await admin.post('/api/v1/collections', { name: 'other_officers', type: 'auth' });
    const { email } = await commission();
    const elsewhere = '/api/v1/auth/other_officers/totp/setup';
    assert.equal(
      (await as(await begin(email)).send('POST', elsewhere, { body: {} })).status,
      401,
      'of another collection',
    );
  });
}
