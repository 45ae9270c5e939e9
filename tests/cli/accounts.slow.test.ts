import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { at, textAt } from '../harness/json.ts';
import { runCli } from '../harness/processes/cli.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { createGround, environmentOf, startStack } from '../harness/stacks/stack.ts';

const password = 'correct horse battery staple';

suite('admins and the secret on the command line', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const ground = tidying.use(await createGround());
  const environment = { ...environmentOf(ground), SERVICE_JWT_SECRET: '' };
  const stack = tidying.use(await startStack({ topology: 'one', ground, environment }));
  const cli = (args: readonly string[], input = '', more: Record<string, string> = {}) =>
    runCli(args, { environment: { ...environment, ...more }, input });
  const login = (email: string, given: string) =>
    stack.guest.send('POST', '/api/v1/admin/login', { body: { email, password: given } });

  await test('admin create creates the first admin and uses up the set-up token', async () => {
    const made = await cli(['admin', 'create', ' Ada@example.com', '--password-stdin', '--json'], `${password}\n`);
    assert.equal(made.code, 0, made.stderr);
    assert.equal(at(made.json, 'email'), 'Ada@example.com');
    assert.equal((await login('ada@example.com', password)).status, 200);
    const setup = { token: stack.setupToken, email: 'eve@example.com', password };
    assert.equal((await stack.guest.send('POST', '/api/v1/admin/setup', { body: setup })).status, 409);
  });

  await test('admin reset-second-factor lets an admin in who has lost the authenticator app', async () => {
    const token = textAt((await login('ada@example.com', password)).json, 'data.token');
    const ada = createClient(stack.url, token);
    const { secret } = await ada.post('/api/v1/admin/totp/setup', { old_password: password }, 200);
    await ada.post('/api/v1/admin/totp/confirm', { code: totpCode(String(secret)) }, 200);
    assert.equal(at((await login('ada@example.com', password)).json, 'data.mfa_required'), true);
    const reset = await cli(['admin', 'reset-second-factor', 'ADA@example.com', '--json']);
    assert.equal(reset.code, 0, reset.stderr);
    assert.equal(typeof at((await login('ada@example.com', password)).json, 'data.token'), 'string');
    const again = await cli(['admin', 'reset-second-factor', 'ada@example.com']);
    assert.match(again.stderr, /no authenticator app is set up/);
    assert.match((await cli(['admin', 'reset-second-factor', 'b@example.com'])).stderr, /not found/);
  });

  const refusals: [string, string[], string, Record<string, string>, number, RegExp][] = [
    [
      'a taken address',
      ['admin', 'create', 'ada@example.com'],
      '',
      { SERVICE_ADMIN_PASSWORD: password },
      1,
      /another admin/,
    ],
    [
      'a password that the policy refuses',
      ['admin', 'create', 'b@example.com', '--password-stdin'],
      'short',
      {},
      1,
      /at least 12/,
    ],
    ['a missing password', ['admin', 'create', 'b@example.com'], '', {}, 1, /--password-stdin/],
    [
      'a reset of an unknown admin',
      ['admin', 'reset', 'b@example.com', '--password-stdin'],
      password,
      {},
      1,
      /not found/,
    ],
    ['a missing address', ['admin', 'create'], '', {}, 2, /missing required argument/],
    ['an invalid address', ['admin', 'create', 'ada'], '', {}, 1, /name@example\.com/],
    ['an unknown command', ['admin', 'frobnicate'], '', {}, 2, /unknown command/],
    [
      'an invalid variable',
      ['admin', 'reset', 'ada@example.com'],
      '',
      { SERVICE_NATS_URL: 'x' },
      78,
      /SERVICE_NATS_URL/,
    ],
    [
      'a database that does not answer',
      ['admin', 'reset', 'ada@example.com', '--password-stdin'],
      password,
      { SERVICE_DATABASE_URL: 'postgres://127.0.0.1:1/x' },
      1,
      /does not answer/,
    ],
    [
      'secret rotate when a variable holds the secret',
      ['secret', 'rotate'],
      '',
      { SERVICE_JWT_SECRET: 'x'.repeat(32) },
      1,
      /SERVICE_JWT_SECRET/,
    ],
  ];
  for (const [what, args, input, more, code, words] of refusals)
    await test(`exit code ${code}: ${what}`, async () => {
      const result = await cli(args, input, more);
      assert.match(result.stderr, words);
      assert.deepEqual([result.code, result.stdout], [code, '']);
    });

  await test('admin reset sets the new password and ends the old token and a lockout', async () => {
    const token = String(at((await login('ada@example.com', password)).json, 'data.token'));
    const lockOut = { 'auth.lockout.max_attempts': '1', 'auth.lockout.duration_seconds': '3600' };
    const headers = { Authorization: `Bearer ${token}` };
    await stack.guest.send('PATCH', '/api/v1/admin/settings', { body: lockOut, headers });
    await login('ada@example.com', 'wrong');
    assert.equal((await login('ada@example.com', password)).status, 429);

    const reset = await cli(['admin', 'reset', 'ADA@example.com'], '', { SERVICE_ADMIN_PASSWORD: `${password} 2` });
    assert.equal(reset.code, 0, reset.stderr);
    assert.equal((await login('ada@example.com', `${password} 2`)).status, 200);
    assert.equal((await stack.guest.send('GET', '/api/v1/admin/me', { headers })).status, 401);
  });

  await test('secret rotate replaces the file, readable by its owner only, and explains what a restart does', async () => {
    const file = join(ground.dataDirectory, 'jwt_secret');
    const before = readFileSync(file, 'utf8');
    const rotated = await cli(['secret', 'rotate']);
    assert.equal(rotated.code, 0, rotated.stderr);
    assert.match(rotated.stdout, /Restart the services/);
    const after = readFileSync(file, 'utf8');
    assert.notEqual(after, before);
    assert.ok(after.trim().length >= 32);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });
});
