import assert from 'node:assert/strict';
import { createAuthenticator, type Deviation, flag } from '../harness/authenticator.ts';
import { type Answer, type Client, createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { followedEverywhere } from '../harness/followed-settings.ts';
import { inDatabase } from '../harness/in-database.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/target.ts';
import { totpCode } from '../harness/totp.ts';

const password = 'a long and winding password';
const auth = '/api/v1/auth/officers';
const required = 'auth.mfa.required.officers';
const settingsPath = '/api/v1/admin/settings';
const unverified = { flags: flag.present | flag.copyable | flag.copied };
const made = { flags: unverified.flags | flag.hasKey };
let people = 0;
const newEmail = (): string => {
  people += 1;
  return `officer${people}@example.com`;
};

const tokenIn = ({ status, json, text }: Answer): string => {
  assert.equal(status, 200, text);
  const data = objectAt(json, 'data');
  assert.deepEqual(Object.keys(data).sort(), ['enrollment_token', 'mfa_enrollment_required'], text);
  assert.equal(data.mfa_enrollment_required, true);
  return textAt(data, 'enrollment_token');
};

const statusAndCode = ({ status, json }: Answer) => [status, at(json, 'code')];

onEachTopology('accounts for which a rule holds set up a second factor [auth §6.10]', async (t, target) => {
  const admin = followedEverywhere(await target.admin());
  const { guest } = target;
  await admin.post('/api/v1/collections', {
    name: 'officers',
    type: 'auth',
    create_rule: null,
    update_rule: null,
    fields: [
      { name: 'rank', type: 'text' },
      { name: 'badge', type: 'text', view_rule: '@request.auth.factors = "mfa"' },
    ],
  });
  const as = (token: string): Client => createClient(target.url, token);
  const set = (rule: string) => admin.patch(settingsPath, { [required]: rule });
  const login = (email: string) => guest.send('POST', `${auth}/login`, { body: { email, password } });
  /** Makes an account for which the rule holds, before it is asked for a second factor. */
  const commission = async (): Promise<{ email: string; id: string; session: string }> => {
    const email = newEmail();
    const answer = await guest.post(`${auth}/register`, { email, password, badge: 'b' });
    await admin.patch(`/api/v1/officers/${textAt(answer, 'record.id')}`, { rank: 'chief' });
    return { email, id: textAt(answer, 'record.id'), session: textAt(answer, 'token') };
  };
  const begin = async (email: string): Promise<string> => tokenIn(await login(email));
  /** Sets an authenticator app up. Returns the code that this used. */
  const enrollApp = async (token: string): Promise<{ answer: Answer; code: string }> => {
    const { secret } = (await as(token).post(`${auth}/totp/setup`, {}, 200)) as { secret: string };
    const code = totpCode(secret);
    return { code, answer: await as(token).send('POST', `${auth}/totp/confirm`, { body: { code } }) };
  };
  await set('rank = "chief"');

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
      ['totp/recovery/regenerate', { enrollment_token: token }],
      ['totp/disable', { enrollment_token: token, code: '123456' }],
    ] as const) {
      const { status } = await as(token).send('POST', `${auth}/${route}`, { body });
      assert.ok([401, 422].includes(status), `${route} ${status}`);
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

  await t.test('it ends with a new password, a sign-out everywhere, a block, its time, and the rule', async () => {
    const isLive = async (token: string) =>
      (await as(token).send('POST', `${auth}/totp/setup`, { body: {} })).status === 200;
    const waiting = async () => {
      const account = await commission();
      const token = await begin(account.email);
      assert.equal(await isLive(token), true);
      return { ...account, token };
    };
    const changed = await waiting();
    const body = { old_password: password, password: `${password} 2` };
    tokenIn(await as(changed.session).send('POST', `${auth}/change-password`, { body }));
    assert.equal(await isLive(changed.token), false);
    const out = await waiting();
    await as(out.session).delete(`${auth}/sessions`);
    assert.equal(await isLive(out.token), false);
    const demoted = await waiting();
    await admin.patch(`/api/v1/officers/${demoted.id}`, { rank: 'private' });
    assert.equal(await isLive(demoted.token), false);
    assert.notEqual(textAt((await login(demoted.email)).json, 'data.token'), '');
    const late = await waiting();
    await inDatabase(
      target,
      "update system.one_time_tokens set expires_at = created_at where account_id = $1 and purpose = 'enrollment'",
      [late.id],
    );
    assert.equal(await isLive(late.token), false);
  });

  await t.test('an open session works until it is refreshed', async () => {
    const { session, email, id } = await commission();
    assert.equal((await as(session).get(`/api/v1/officers/${id}`)).status, 200);
    const token = tokenIn(await as(session).send('POST', '/api/v1/auth/refresh'));
    const newer = tokenIn(await as(session).send('POST', '/api/v1/auth/refresh'));
    assert.equal((await as(token).send('POST', `${auth}/totp/setup`, { body: {} })).status, 401, 'a newer replaces it');
    await inDatabase(
      target,
      "update system.one_time_tokens set data = data || '{\"proved_at\": 5}' where account_id = $1 and purpose = 'enrollment'",
      [id],
    );
    const setup = (body: object) => as(newer).send('POST', `${auth}/totp/setup`, { body });
    assert.deepEqual(statusAndCode(await setup({})), [403, 'proof_required'], 'an old sign-in is no proof');
    assert.deepEqual(statusAndCode(await setup({ old_password: 'wrong' })), [403, 'proof_required']);
    const { json } = await setup({ old_password: password });
    const code = totpCode(textAt(json, 'secret'));
    assert.equal((await as(newer).send('POST', `${auth}/totp/confirm`, { body: { code } })).status, 200);
    assert.equal((await as(session).send('POST', '/api/v1/auth/refresh')).status, 200);
    assert.equal(at((await login(email)).json, 'data.mfa_required'), true);
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

  await t.test('the rule is about the account: others are refused, and a renamed field is followed', async () => {
    for (const rule of ['rank = ', 'nothing = 1', '@request.auth.id != null', '@request.headers.x = "1"', 'rank > 5 5'])
      assert.equal((await admin.send('PATCH', settingsPath, { body: { [required]: rule } })).status, 422, rule);
    const path = '/api/v1/collections/officers';
    const { json } = await admin.get(path);
    const fields = listAt({ fields: JSON.parse(textAt(json, 'data.fields')) }, 'fields').filter(
      ({ system }) => !system,
    );
    const renamed = fields.map((field) => (field.name === 'rank' ? { ...field, name: 'grade' } : field));
    await admin.patch(path, { fields: renamed });
    await eventually('the setting names the field as it is now', async () => {
      const settings = objectAt((await admin.get(settingsPath)).json, 'data');
      return settings[required] === 'grade = "chief"';
    });
  });
});
