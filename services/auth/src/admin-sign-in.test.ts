import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { needsRehash } from '@recordbus/crypto';
import { type Database, newId } from '@recordbus/database';
import { openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { ConfigError } from '@recordbus/process/config';
import { createLogger } from '@recordbus/process/logging';
import { prepareFirstAdmin } from './app.ts';
import { detailsOf, guest, serveAuth, sessionOf } from './testing/auth-client.ts';

const log = createLogger('auth', 'silent');
const password = 'correct horse battery';
/** That password's hash with m=8 KiB, t=1, as an earlier version could have stored it. */
const weakHash = '$argon2id$v=19$m=8,t=1,p=1$2bGyfJaZgkv6204ve75GNQ$23y11OmaXtcxGAaFsaoHsT1bJlmMiEgFF6xv9EVb68E';

describe('signing in as an admin', { skip: skipWithoutDatabase }, () => {
  let database: Database;
  let client: Awaited<ReturnType<typeof serveAuth>>;
  let end: () => Promise<void>;
  before(async () => {
    const temporary = await openTemporaryDatabase();
    database = temporary.database;
    client = await serveAuth(database);
    end = async () => {
      await client.close();
      await temporary.remove();
    };
  });
  after(() => end());
  beforeEach(async () => {
    await run('delete from system.admins');
    await run('delete from system.instance');
  });

  const run = <R>(text: string, ...values: readonly unknown[]) => database.query<R>({ text, values });
  const prepare = (config: { adminEmail?: string; adminPassword?: string } = {}) =>
    prepareFirstAdmin({ database, log, config });
  const admins = () => run('select email, token_version from system.admins');
  const setUp = (token: string | undefined, change: object = {}) =>
    client.post('/api/v1/admin/setup', { token, email: 'root@example.com', password, ...change });
  const logIn = (email: string, given = password) => client.post('/api/v1/admin/login', { email, password: given });
  const createAdmin = (email = 'root@example.com') => prepare({ adminEmail: email, adminPassword: password });

  test('set-up creates the first admin, signs them in for 7 days, and is 409 afterwards', async () => {
    const token = await prepare();
    const answer = await setUp(token, { email: ' Root@Example.com ' });
    assert.equal(answer.status, 201);
    const opened = sessionOf(answer);
    assert.equal(opened.admin.email, 'Root@example.com');
    const session = await client.verify(opened.token);
    assert.deepEqual(session?.principal, { type: 'admin', ...opened.admin });
    assert.ok(Math.abs((session?.expiresAtSec ?? 0) - Date.now() / 1000 - 7 * 86400) < 60);
    for (const again of [token, 'wrong'])
      assert.deepEqual(await setUp(again), {
        status: 409,
        body: { error: 'an admin exists already', code: 'admin_exists' },
      });
    assert.equal(await prepare(), undefined);
    assert.deepEqual(await run('select * from system.instance'), []);
  });

  test('a wrong token is 401; a weak password and an invalid address are 422 and leave the token valid', async () => {
    const token = await prepare();
    for (const wrong of ['wrong', '', `${token}x`, 'setup_token.%'])
      assert.equal((await setUp(wrong)).status, 401, JSON.stringify(wrong));
    assert.deepEqual(detailsOf(await setUp(token, { password: 'short' })), {
      password: 'must have at least 12 characters',
    });
    assert.deepEqual(detailsOf(await setUp(token, { email: 'nowhere' })), {
      email: 'must look like name@example.com',
    });
    assert.equal((await client.post('/api/v1/admin/setup', {})).status, 422);
    assert.deepEqual(await admins(), []);
    assert.equal((await setUp(token)).status, 201);
  });

  test('the token is stored as its hash only', async () => {
    const token = await prepare();
    const rows = await run('select * from system.instance');
    assert.equal(rows.length, 1);
    assert.ok(token && !JSON.stringify(rows).includes(token));
  });

  test("when several set up at once, one succeeds, even with two replicas' tokens", async () => {
    const tokens = await Promise.all([prepare(), prepare()]);
    const answers = await Promise.all(
      [...tokens, ...tokens].map((token, index) => setUp(token, { email: `root${index}@example.com` })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409]);
    assert.equal((await admins()).length, 1);
  });

  test('every printed token works until an admin exists, but only the last ten are kept', async () => {
    const tokens: (string | undefined)[] = [];
    for (let start = 0; start < 12; start += 1)
      tokens.push(await prepareFirstAdmin({ database, log, config: {}, clock: () => 1_800_000_000_000 + start }));
    assert.equal((await setUp(tokens[1])).status, 401);
    assert.equal((await setUp(tokens[2])).status, 201);
  });

  test('the configured admin is created once, even by replicas that start together', async () => {
    await Promise.all([createAdmin(), createAdmin(), createAdmin()]);
    assert.equal(await createAdmin('other@example.com'), undefined);
    assert.deepEqual(await admins(), [{ email: 'root@example.com', token_version: 0 }]);
    assert.equal((await logIn('root@example.com')).status, 200);
  });

  test("an invalid configured admin ends the start with the variable's name, unless there is an admin", async () => {
    const wrong: [Parameters<typeof prepare>[0], string][] = [
      [
        { adminEmail: 'root@example.com', adminPassword: 'short' },
        'SERVICE_ADMIN_PASSWORD must have at least 12 characters.',
      ],
      [{ adminEmail: 'root@example.com' }, 'SERVICE_ADMIN_PASSWORD must be set with SERVICE_ADMIN_EMAIL.'],
      [{ adminPassword: password }, 'SERVICE_ADMIN_EMAIL must be set with SERVICE_ADMIN_PASSWORD.'],
    ];
    for (const [config, message] of wrong)
      await assert.rejects(prepare(config), (error) => error instanceof ConfigError && error.message === message);
    assert.deepEqual(await admins(), []);
    await createAdmin();
    for (const [config] of wrong) assert.equal(await prepare(config), undefined);
  });

  test('an address is trimmed and found in any case, and a password only matches exactly', async () => {
    await createAdmin('Root@Example.com');
    for (const email of ['Root@Example.com', ' root@example.COM\n']) {
      assert.equal(sessionOf(await logIn(email)).admin.email, 'Root@Example.com');
    }
    for (const given of [` ${password}`, password.toUpperCase(), ''])
      assert.equal((await logIn('root@example.com', given)).status, 401);
  });

  test('a wrong password and an unknown address get the same answer', async () => {
    await createAdmin();
    const refusal = { status: 401, body: { error: 'invalid credentials', code: 'invalid_credentials' } };
    assert.deepEqual(await logIn('root@example.com', 'wrong password'), refusal);
    assert.deepEqual(await logIn('nobody@example.com'), refusal);
    assert.deepEqual(await logIn('not an address'), refusal);
    assert.deepEqual(await logIn("' or true --"), refusal);
  });

  test('missing fields are named', async () => {
    const answer = await client.post('/api/v1/admin/login', { email: 5 });
    assert.equal(answer.status, 422);
    assert.deepEqual(detailsOf(answer), { email: 'must be a string', password: 'is required' });
  });

  test('a hash with older parameters is replaced at sign-in', async () => {
    await run(
      `insert into system.admins (id, email, password_hash, created_at, updated_at)
values ($1, 'root@example.com', $2, 1, 1)`,
      newId(),
      weakHash,
    );
    assert.equal((await logIn('root@example.com', 'wrong password')).status, 401);
    assert.equal((await logIn('root@example.com')).status, 200);
    const [stored] = await run<{ readonly password_hash: string }>('select password_hash from system.admins');
    assert.ok(stored && !needsRehash(stored.password_hash, ''));
    assert.equal((await logIn('root@example.com')).status, 200);
  });

  test('a refresh returns a new token; without a token, or without the admin, it is 401', async () => {
    await createAdmin();
    const opened = sessionOf(await logIn('root@example.com'));
    const session = await client.verify(opened.token);
    assert.ok(session);
    const refreshed = await client.post('/api/v1/auth/refresh', undefined, session.principal);
    assert.equal(refreshed.status, 200);
    const { token, admin } = sessionOf(refreshed);
    assert.deepEqual(admin, opened.admin);
    assert.notEqual(token, opened.token);
    assert.deepEqual((await client.verify(token))?.principal, session.principal);

    assert.equal((await client.post('/api/v1/auth/refresh', undefined, guest)).status, 401);
    await run('delete from system.admins');
    assert.equal((await client.post('/api/v1/auth/refresh', undefined, session.principal)).status, 401);
  });
});
