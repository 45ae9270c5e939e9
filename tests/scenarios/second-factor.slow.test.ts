import assert from 'node:assert/strict';
import { type Answer, type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { objectAt, textAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { totpCode, wrongTotpCode } from '../harness/sign-in/totp.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const password = 'correct horse battery staple';
const path = '/api/v1/auth/staff';

const statusOf = ({ status }: Answer): number => status;
const statuses = (answers: readonly Answer[]): number[] => answers.map(statusOf).sort();

onEachTopology('users sign in with a second factor', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.post('/api/v1/collections', { name: 'staff', type: 'auth', fields: [] });

  const login = (email: string) => guest.send('POST', `${path}/login`, { body: { email, password } });
  const finish = (body: object) => guest.send('POST', `${path}/login/mfa`, { body });
  /** Signs in with the first factor. Returns the token for the second one. */
  const begin = async (email: string): Promise<string> => {
    const answer = await login(email);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(objectAt(answer.json, 'data')).sort(), ['mfa_required', 'mfa_token']);
    return textAt(answer.json, 'data.mfa_token');
  };
  const join = async (email: string): Promise<Client> => {
    const data = await guest.post(`${path}/register`, { email, password });
    return createClient(target.url, textAt(data, 'token'));
  };
  /** Registers a person and enrols their app. This uses up the current step's code, but not the next one's. */
  const enrol = async (email: string) => {
    const client = await join(email);
    const { secret } = (await client.post(`${path}/totp/setup`, undefined, 200)) as { secret: string };
    const { codes } = (await client.post(`${path}/totp/confirm`, { code: totpCode(secret) }, 200)) as {
      codes: string[];
    };
    return { client, secret, codes };
  };
  const remaining = async (client: Client) => objectAt((await client.get(`${path}/totp/recovery/status`)).json, 'data');

  await runScenarios(t, target, [
    ...['totp/setup', 'totp/confirm', 'totp/disable', 'totp/recovery/regenerate'].flatMap((action) => [
      {
        name: `${action} by a guest`,
        request: `POST ${path}/${action}`,
        body: { code: '123456' },
        expect: refused.unauthenticated,
        spec: 'http §6.2',
      },
      {
        name: `${action} by an admin`,
        as: 'admin' as const,
        request: `POST ${path}/${action}`,
        body: { code: '123456' },
        expect: refused.forbidden,
        spec: 'http §6.3',
      },
    ]),
    {
      name: 'an unknown token',
      request: `POST ${path}/login/mfa`,
      body: { mfa_token: 'x', code: '123456' },
      expect: refused.invalidCredentials,
      spec: 'auth §6.4',
    },
    {
      name: 'a missing token',
      request: `POST ${path}/login/mfa`,
      body: { code: '123456' },
      expect: refused.invalid('mfa_token'),
      spec: 'auth §1.5',
    },
    {
      name: 'neither a code nor a recovery code',
      request: `POST ${path}/login/mfa`,
      body: { mfa_token: 'x' },
      expect: refused.invalid('code'),
      spec: 'auth §6.4',
    },
  ]);

  await t.test('an app is enrolled by its first code; then the password alone does not sign in', async () => {
    const client = await join('ada@example.com');
    const setup = await client.send('POST', `${path}/totp/setup`);
    const { secret, otpauth_url: url, data } = setup.json as Record<string, unknown>;
    assert.deepEqual(data, { secret, otpauth_url: url });
    assert.match(String(secret), /^[A-Z2-7]{32}$/);
    assert.equal(new URL(String(url)).searchParams.get('secret'), secret);
    assert.equal(statusOf(await client.send('POST', `${path}/totp/disable`, { body: { code: '123456' } })), 422);
    assert.equal(
      'token' in objectAt((await login('ada@example.com')).json, 'data'),
      true,
      'the app is not confirmed yet',
    );
    const confirm = (code: string) => client.send('POST', `${path}/totp/confirm`, { body: { code } });
    for (const code of [wrongTotpCode(String(secret)), '', 'abc', '1234567'])
      assert.equal(statusOf(await confirm(code)), 422);
    const code = totpCode(String(secret));
    const confirmed = await Promise.all([confirm(code), confirm(code), confirm(code)]);
    assert.deepEqual(statuses(confirmed), [200, 409, 409], 'one of three parallel confirmations');
    const answer = confirmed.find(({ status }) => status === 200)?.json;
    const { enabled, codes } = objectAt(answer, 'data') as { enabled: boolean; codes: string[] };
    assert.equal(enabled, true);
    assert.equal(new Set(codes).size, 10);
    for (const recovery of codes) assert.match(recovery, /^[2-9A-HJKMNP-Z]{8}$/);
    assert.deepEqual(await remaining(client), { total: 10, remaining: 10 });
    assert.equal(statusOf(await client.send('POST', `${path}/totp/setup`)), 409);

    const mfaToken = await begin('ada@example.com');
    assert.equal(statusOf(await finish({ mfa_token: mfaToken, code })), 401, 'the code of the confirmation is used up');
    const done = await finish({ mfa_token: mfaToken, code: totpCode(String(secret), 1) });
    assert.equal(done.status, 200, done.text);
    assert.equal(textAt(done.json, 'data.record.email'), 'ada@example.com');
    assert.doesNotMatch(done.text, /totp|hash/);
    assert.equal(
      statusOf(await createClient(target.url, textAt(done.json, 'data.token')).get(`${path}/sessions`)),
      200,
    );
    assert.equal(statusOf(await finish({ mfa_token: mfaToken, recovery_code: codes[0] })), 401, 'the token is used up');
    assert.deepEqual(await remaining(client), { total: 10, remaining: 10 }, 'no recovery code is used up');
  });

  await t.test('when a code or a recovery code is used several times at once, one use succeeds', async () => {
    const { secret, codes, client } = await enrol('race@example.com');
    const tokens = [await begin('race@example.com'), await begin('race@example.com'), await begin('race@example.com')];
    const code = totpCode(secret, 1);
    assert.deepEqual(
      statuses(await Promise.all(tokens.map((mfa_token) => finish({ mfa_token, code })))),
      [200, 401, 401],
    );
    const others = [await begin('race@example.com'), await begin('race@example.com'), await begin('race@example.com')];
    const recovery = others.map((mfa_token) => finish({ mfa_token, recovery_code: codes[3] }));
    assert.deepEqual(statuses(await Promise.all(recovery)), [200, 401, 401]);
    assert.deepEqual(await remaining(client), { total: 10, remaining: 9 });
    const oneToken = await begin('race@example.com');
    const many = [1, 2, 4, 5].map((index) => finish({ mfa_token: oneToken, recovery_code: codes[index] }));
    assert.deepEqual(statuses(await Promise.all(many)), [200, 401, 401, 401]);
    assert.deepEqual(await remaining(client), { total: 10, remaining: 8 });
  });

  await t.test('a recovery code may have spaces and dashes, works once, and ends with new codes', async () => {
    const { codes, client } = await enrol('paper@example.com');
    const [first = '', second = ''] = codes;
    const typed = ` ${first.slice(0, 4).toLowerCase()}-${first.slice(4)} `;
    const use = async (recovery_code: string) =>
      statusOf(await finish({ mfa_token: await begin('paper@example.com'), recovery_code }));
    assert.equal(await use(typed), 200);
    assert.equal(await use(first), 401);
    const made = await Promise.all([1, 2].map(() => client.post(`${path}/totp/recovery/regenerate`, undefined, 200)));
    assert.deepEqual(await remaining(client), { total: 10, remaining: 10 });
    assert.equal(await use(second), 401, 'a code of the old set');
    const working = [];
    for (const set of made) working.push(await use((set as { codes: string[] }).codes[0] ?? ''));
    assert.deepEqual(working.sort(), [200, 401], 'only the last of two new sets is valid');
  });

  await t.test("five wrong codes end a token, and ten lock the account's second factor", async () => {
    const { secret, codes, client } = await enrol('guess@example.com');
    const code = wrongTotpCode(secret);
    for (const half of [1, 2]) {
      const mfa_token = await begin('guess@example.com');
      const wrong = await Promise.all([
        ...[1, 2, 3].map(() => finish({ mfa_token, code })),
        ...[1, 2].map(() => finish({ mfa_token, recovery_code: 'ZZZZZZZZ' })),
      ]);
      assert.deepEqual(statuses(wrong), [401, 401, 401, 401, 401], `half ${half}`);
      assert.equal(statusOf(await finish({ mfa_token, recovery_code: codes[0] })), 401, 'the token has ended');
    }
    const closed = await finish({ mfa_token: await begin('guess@example.com'), recovery_code: codes[0] });
    assert.equal(closed.status, 429, closed.text);
    assert.ok(Number(closed.headers['retry-after']) > 0);
    const disable = await client.send('POST', `${path}/totp/disable`, {
      body: { code: totpCode(secret, 1), old_password: password },
    });
    assert.equal(disable.status, 429, 'the lock covers disabling too');
    assert.deepEqual(await remaining(client), { total: 10, remaining: 10 });
  });

  await t.test('removing the app needs one of its codes and deletes the recovery codes', async () => {
    const { secret, client } = await enrol('leave@example.com');
    const mfaToken = await begin('leave@example.com');
    const disable = (code: string) =>
      client.send('POST', `${path}/totp/disable`, { body: { code, old_password: password } });
    const wrong = await disable(wrongTotpCode(secret));
    assert.equal(wrong.status, 422);
    assert.deepEqual(Object.keys(objectAt(wrong.json, 'details')), ['code']);
    const disabled = await disable(totpCode(secret, 1));
    assert.deepEqual([disabled.status, objectAt(disabled.json, 'data')], [200, { enabled: false }]);
    assert.deepEqual(await remaining(client), { total: 0, remaining: 0 });
    assert.equal('token' in objectAt((await login('leave@example.com')).json, 'data'), true);
    assert.equal(statusOf(await finish({ mfa_token: mfaToken, code: totpCode(secret, 1) })), 401);
    assert.equal(statusOf(await client.send('POST', `${path}/totp/recovery/regenerate`)), 422);
    assert.equal(statusOf(await client.send('POST', `${path}/totp/setup`)), 200);
  });

  await t.test('a token does not work for another purpose or collection', async () => {
    await admin.post('/api/v1/collections', { name: 'guests', type: 'auth', fields: [] });
    const { secret, client } = await enrol('kinds@example.com');
    const mfa_token = await begin('kinds@example.com');
    const code = totpCode(secret, 1);
    assert.equal(
      statusOf(await guest.send('POST', '/api/v1/auth/guests/login/mfa', { body: { mfa_token, code } })),
      401,
    );
    assert.equal(statusOf(await createClient(target.url, mfa_token).get(`${path}/totp/recovery/status`)), 401);
    assert.equal(statusOf(await guest.send('POST', `${path}/verify-email`, { body: { token: mfa_token } })), 401);
    assert.equal(statusOf(await client.send('POST', '/api/v1/auth/guests/totp/setup')), 403);
    assert.equal(statusOf(await finish({ mfa_token, code })), 200, 'refused uses leave the token usable');
  });

  await t.test('a changed password ends a sign-in after its first factor', async () => {
    const { secret, client } = await enrol('stale@example.com');
    const mfa_token = await begin('stale@example.com');
    await client.post(`${path}/change-password`, { old_password: password, password: `${password}!` }, 200);
    assert.equal(statusOf(await finish({ mfa_token, code: totpCode(secret, 1) })), 401);
  });

  await t.test('a one-time code can be the first factor', async () => {
    await using mail = await startMailServer();
    await admin.patch('/api/v1/admin/settings', { ...mail.settings, 'auth.otp.enabled': '1' });
    const { secret } = await enrol('mailed@example.com');
    const people = await admin.get(`/api/v1/staff?filter=${encodeURIComponent('email = "mailed@example.com"')}`);
    const [{ id }] = (people.json as { data: [{ id: string }] }).data;
    await admin.patch(`/api/v1/staff/${id}`, { verified: true });
    const requestCode = () => guest.send('POST', `${path}/otp/request`, { body: { email: 'mailed@example.com' } });
    await eventually('the setting applies', async () => (await requestCode()).status === 200);
    const { token } = await mail.mailTo('mailed@example.com', { subject: 'Your sign-in code' });
    const first = await guest.send('POST', `${path}/otp/auth`, { body: { token } });
    assert.equal(first.status, 200, first.text);
    const mfa_token = textAt(first.json, 'data.mfa_token');
    assert.equal(statusOf(await finish({ mfa_token, code: totpCode(secret, 1) })), 200);
  });

  await t.test(
    'while second factors are disabled nobody can enrol, but enrolled users sign in and may remove the app',
    async () => {
      const { secret, codes, client } = await enrol('stays@example.com');
      const newcomer = await join('late@example.com');
      await admin.patch('/api/v1/admin/settings', { 'auth.mfa.enabled': '0' });
      const setup = () => newcomer.send('POST', `${path}/totp/setup`);
      await eventually('the setting applies', async () => (await setup()).status === 422);
      const confirm = await newcomer.send('POST', `${path}/totp/confirm`, { body: { code: '123456' } });
      assert.deepEqual([confirm.status, textAt(confirm.json, 'code')], [422, 'feature_disabled']);
      assert.equal(
        statusOf(await finish({ mfa_token: await begin('stays@example.com'), recovery_code: codes[0] })),
        200,
      );
      assert.equal(
        statusOf(
          await client.send('POST', `${path}/totp/disable`, {
            body: { code: totpCode(secret, 1), old_password: password },
          }),
        ),
        200,
      );
      await admin.patch('/api/v1/admin/settings', { 'auth.mfa.enabled': '1' });
    },
  );
});
