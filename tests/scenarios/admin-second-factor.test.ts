import assert from 'node:assert/strict';
import { type Answer, type Client, createClient } from '../harness/clients/client.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { totpCode, wrongTotpCode } from '../harness/sign-in/totp.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const password = 'correct horse battery staple';
const path = '/api/v1/admin/totp';

const outcome = ({ status, json }: Answer) => [status, at(json, 'code')];

onEachTopology('admins sign in with a second factor', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  const login = (email: string, given = password) =>
    guest.send('POST', '/api/v1/admin/login', { body: { email, password: given } });
  const finish = (body: object) => guest.send('POST', '/api/v1/admin/login/mfa', { body });
  const begin = async (email: string): Promise<string> => {
    const answer = await login(email);
    assert.deepEqual([answer.status, at(answer.json, 'data.token')], [200, undefined], answer.text);
    return textAt(answer.json, 'data.mfa_token');
  };
  const add = async (email: string) => {
    const id = textAt(await admin.post('/api/v1/admin/admins', { email, password }), 'id');
    const client = createClient(target.url, textAt((await login(email)).json, 'data.token'));
    return { id, client, email };
  };
  /** Adds an admin with an authenticator app. This uses up the current step's code, but not the next one's. */
  const enrol = async (email: string) => {
    const added = await add(email);
    const { secret } = (await added.client.post(`${path}/setup`, { old_password: password }, 200)) as {
      secret: string;
    };
    const used = totpCode(secret);
    const { codes } = (await added.client.post(`${path}/confirm`, { code: used }, 200)) as {
      codes: readonly [string, string, ...string[]];
    };
    return { ...added, secret, used, codes };
  };
  const actions = async (id: string) =>
    listAt((await admin.get(`/api/v1/admin/audit?target_id=${id}&action=admins.*`)).json, 'data').map(
      (row) => row.action,
    );
  const send = (client: Client, action: string, body: object) => client.send('POST', `${path}/${action}`, { body });

  await t.test('an app takes effect with its first code [admins §2.1]', async () => {
    const { client, email, id } = await add('one@example.com');
    assert.deepEqual(outcome(await send(client, 'setup', {})), [403, 'proof_required']);
    assert.deepEqual(outcome(await send(client, 'setup', { old_password: 'wrong' })), [403, 'proof_required']);
    assert.deepEqual(outcome(await send(client, 'confirm', { code: '123456' })), [422, 'totp_not_enabled']);
    const { secret } = (await client.post(`${path}/setup`, { old_password: password }, 200)) as { secret: string };
    assert.deepEqual(outcome(await send(client, 'confirm', { code: wrongTotpCode(secret) })), [
      422,
      'validation_failed',
    ]);
    assert.equal(typeof textAt((await login(email)).json, 'data.token'), 'string');
    const { codes } = (await client.post(`${path}/confirm`, { code: totpCode(secret) }, 200)) as { codes: string[] };
    assert.equal(codes.length, 10);
    assert.deepEqual((await client.get(path)).json, {
      data: { enabled: true, recovery_codes: { total: 10, remaining: 10 } },
    });
    for (const action of ['setup', 'confirm'])
      assert.deepEqual(
        outcome(await send(client, action, action === 'setup' ? { old_password: password } : { code: '1' })),
        [409, 'totp_enabled'],
      );
    assert.deepEqual(await actions(id), ['admins.mfa_enable', 'admins.create']);
    const shown = listAt((await admin.get('/api/v1/admin/admins')).json, 'data').find((one) => one.email === email);
    assert.equal(shown?.second_factor, true);
  });

  await t.test('a sign-in needs a code or a recovery code, each usable once [admins §2.1]', async () => {
    const { email, secret, used, codes } = await enrol('two@example.com');
    const token = await begin(email);
    assert.deepEqual(outcome(await finish({ mfa_token: token, code: wrongTotpCode(secret) })), [401, 'invalid_code']);
    assert.deepEqual(outcome(await finish({ mfa_token: token, code: used })), [401, 'invalid_code']);
    const code = totpCode(secret, 1);
    const answers = await Promise.all(Array.from({ length: 3 }, () => finish({ mfa_token: token, code })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401]);
    const opened = answers.find(({ status }) => status === 200);
    const own = createClient(target.url, textAt(opened?.json, 'data.token'));
    assert.equal(at((await own.get('/api/v1/admin/me')).json, 'data.email'), email);
    assert.deepEqual(outcome(await finish({ mfa_token: token, code })), [401, 'invalid_token']);
    const next = await begin(email);
    assert.equal((await finish({ mfa_token: next, recovery_code: codes[0].toLowerCase() })).status, 200);
    const again = await begin(email);
    assert.deepEqual(outcome(await finish({ mfa_token: again, recovery_code: codes[0] })), [401, 'invalid_code']);
    assert.equal(at((await own.get(path)).json, 'data.recovery_codes.remaining'), 9);
  });

  await t.test('a new password ends pending sign-ins, and too many wrong factors are 429 [admins §2.1]', async () => {
    const { id, email, secret, codes } = await enrol('three@example.com');
    const begun = await begin(email);
    await admin.patch(`/api/v1/admin/admins/${id}`, { password });
    assert.deepEqual(outcome(await finish({ mfa_token: begun, recovery_code: codes[0] })), [401, 'invalid_token']);
    const seen = new Set<string>();
    for (let tries = 0; tries < 12; tries += 1) {
      const token = await begin(email);
      seen.add(outcome(await finish({ mfa_token: token, code: wrongTotpCode(secret) })).join(' '));
    }
    assert.deepEqual([...seen], ['401 invalid_code', '429 too_many_attempts']);
    assert.deepEqual(outcome(await finish({ mfa_token: await begin(email), recovery_code: codes[1] })), [
      429,
      'too_many_attempts',
    ]);
  });

  await t.test('it is switched off with the password and a code [admins §2.1]', async () => {
    const { id, email, client, secret, codes } = await enrol('four@example.com');
    const code = totpCode(secret, 1);
    assert.deepEqual(outcome(await send(client, 'disable', { code })), [403, 'proof_required']);
    const wrong = { code: wrongTotpCode(secret), old_password: password };
    assert.deepEqual(outcome(await send(client, 'disable', wrong)), [422, 'validation_failed']);
    assert.deepEqual(outcome(await send(client, 'recovery/regenerate', {})), [403, 'proof_required']);
    const fresh = await client.post(`${path}/recovery/regenerate`, { old_password: password }, 200);
    const token = await begin(email);
    assert.deepEqual(outcome(await finish({ mfa_token: token, recovery_code: codes[0] })), [401, 'invalid_code']);
    assert.equal((fresh.codes as string[]).length, 10);
    await client.post(`${path}/disable`, { code, old_password: password }, 200);
    assert.deepEqual((await client.get(path)).json, {
      data: { enabled: false, recovery_codes: { total: 0, remaining: 0 } },
    });
    assert.equal(typeof textAt((await login(email)).json, 'data.token'), 'string');
    assert.deepEqual(await actions(id), [
      'admins.mfa_disable',
      'admins.mfa_recovery_codes',
      'admins.mfa_enable',
      'admins.create',
    ]);
  });

  await t.test('only the admin can access it [admins §2.1]', async () => {
    await admin.post('/api/v1/collections', { name: 'staff', type: 'auth', fields: [], create_rule: null });
    const joined = await guest.post('/api/v1/auth/staff/register', { email: 'joe@example.com', password });
    const user = createClient(target.url, textAt(joined, 'token'));
    const key = await admin.post('/api/v1/admin/keys', { name: 'all', scopes: ['admin'] });
    const keyed = createClient(target.url, textAt(key, 'key'));
    for (const [client, status] of [
      [guest, 401],
      [user, 403],
      [keyed, 403],
    ] as const) {
      assert.equal((await client.get(path)).status, status);
      assert.equal((await send(client, 'setup', { old_password: password })).status, status);
      assert.equal((await send(client, 'disable', { code: '1', old_password: password })).status, status);
    }
    // A token from a user's sign-in opens no admin session.
    const { secret } = (await user.post('/api/v1/auth/staff/totp/setup', { old_password: password }, 200)) as {
      secret: string;
    };
    await user.post('/api/v1/auth/staff/totp/confirm', { code: totpCode(secret) }, 200);
    const body = { email: 'joe@example.com', password };
    const begun = textAt((await guest.send('POST', '/api/v1/auth/staff/login', { body })).json, 'data.mfa_token');
    assert.deepEqual(outcome(await finish({ mfa_token: begun, code: totpCode(secret, 1) })), [401, 'invalid_token']);
    for (const mfa_token of ['', '\0', 'x'.repeat(100_000), "' or 1=1"])
      assert.equal((await finish({ mfa_token, code: '123456' })).status, 401);
  });
});
