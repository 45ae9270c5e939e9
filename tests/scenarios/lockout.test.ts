import assert from 'node:assert/strict';
import type { Answer } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { firstAdmin } from '../harness/stacks/stack.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';

const password = 'a long and winding password';
const locked = { error: 'Too many failed attempts. Try again later.', code: 'too_many_attempts' };
const isRetryAfter = ({ headers }: Answer): boolean => /^\d+$/.test(headers['retry-after'] ?? '');

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort();

/** Sets the limit and waits until the auth service applies it: one failure more locks the address out. */
async function limitTo(target: Target, maxAttempts: number, path: string): Promise<void> {
  const admin = await target.admin();
  await admin.patch('/api/v1/admin/settings', { 'auth.lockout.max_attempts': String(maxAttempts) });
  await eventually('the lockout applies', async () => {
    const email = `probe.${Math.random()}@example.com`;
    for (let count = 0; count < maxAttempts; count += 1)
      await target.guest.send('POST', path, { body: { email, password: 'x' } });
    return (await target.guest.send('POST', path, { body: { email, password: 'x' } })).status === 429;
  });
}

onEachTopology('too many failures lock the address out [auth §4.2]', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.post('/api/v1/collections', { name: 'readers', type: 'auth' });
  await admin.post('/api/v1/collections', { name: 'writers', type: 'auth' });
  const login = (email: string, entered: string, collection = 'readers') =>
    guest.send('POST', `/api/v1/auth/${collection}/login`, { body: { email, password: entered } });
  for (const name of ['ann', 'bob', 'cid'])
    await guest.post('/api/v1/auth/readers/register', { email: `${name}@example.com`, password });
  await guest.post('/api/v1/auth/writers/register', { email: 'ann@example.com', password });

  await t.test('the lockout is disabled by default', async () => {
    for (let count = 0; count < 6; count += 1) assert.equal((await login('bob@example.com', 'wrong')).status, 401);
    assert.equal((await login('bob@example.com', password)).status, 200);
  });

  await limitTo(target, 3, '/api/v1/auth/readers/login');

  await t.test(
    'the attempt that reaches the limit is 401, and every further one is 429, even with the right password',
    async () => {
      for (const email of ['ann@example.com', 'ANN@example.com ', ' Ann@Example.com'])
        assert.equal((await login(email, 'wrong')).status, 401);
      for (const entered of ['wrong', password]) {
        const answer = await login('ann@example.com', entered);
        assert.equal(answer.status, 429);
        assert.deepEqual(answer.json, locked);
        assert.ok(isRetryAfter(answer), answer.headers['retry-after']);
      }
    },
  );

  await t.test('the lockout is for one address in one collection', async () => {
    assert.equal((await login('bob@example.com', password)).status, 200);
    assert.equal((await login('ann@example.com', password, 'writers')).status, 200);
  });

  await t.test('an unknown address is locked out too', async () => {
    for (let count = 0; count < 3; count += 1) assert.equal((await login('nobody@example.com', 'x')).status, 401);
    assert.equal((await login('nobody@example.com', 'x')).status, 429);
  });

  await t.test('parallel guesses do not exceed the limit', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => login('many@example.com', `x${index}`)));
    assert.deepEqual(statuses(answers), [401, 401, 401, ...Array.from({ length: 9 }, () => 429)]);
  });

  await t.test('a sign-in resets the count', async () => {
    for (let round = 0; round < 2; round += 1) {
      assert.equal((await login('cid@example.com', 'wrong')).status, 401);
      assert.equal((await login('cid@example.com', 'wrong')).status, 401);
      assert.equal((await login('cid@example.com', password)).status, 200);
    }
  });

  await t.test('a password reset is still possible', async () => {
    const body = { email: 'ann@example.com' };
    assert.equal((await guest.send('POST', '/api/v1/auth/readers/request-password-reset', { body })).status, 200);
  });

  await t.test('admins are locked out too [auth §4.3]', async () => {
    const { email } = await admin.post('/api/v1/admin/admins', { email: 'second@example.com', password });
    const adminLogin = (entered: string) =>
      guest.send('POST', '/api/v1/admin/login', { body: { email, password: entered } });
    for (let count = 0; count < 3; count += 1) assert.equal((await adminLogin('wrong')).status, 401);
    assert.equal((await adminLogin(password)).status, 429);
    assert.equal((await guest.send('POST', '/api/v1/admin/login', { body: firstAdmin })).status, 200);
  });
});

onEachTopology('the password policy follows the settings [auth §2.1]', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.send('POST', '/api/v1/collections', { body: { name: 'guarded', type: 'auth' } });
  const weak = 'abcdefghijkl';
  let count = 0;
  const attempts = {
    register: (chosen: string) => {
      count += 1;
      const body = { email: `u${count}@example.com`, password: chosen };
      return guest.send('POST', '/api/v1/auth/guarded/register', { body });
    },
    'a record': (chosen: string) => {
      count += 1;
      return admin.send('POST', '/api/v1/guarded', { body: { email: `u${count}@example.com`, password: chosen } });
    },
    'an admin': (chosen: string) => {
      count += 1;
      return admin.send('POST', '/api/v1/admin/admins', { body: { email: `a${count}@example.com`, password: chosen } });
    },
  };
  for (const [where, attempt] of Object.entries(attempts))
    await t.test(`${where}: twelve letters are enough by default`, async () => {
      assert.equal((await attempt(weak)).status, 201);
      assert.equal((await attempt('abcdefghijk')).status, 422);
    });
  await admin.patch('/api/v1/admin/settings', { 'password.require_digit': '1', 'password.min_length': '8' });
  for (const [where, attempt] of Object.entries(attempts))
    await t.test(`${where}: with other settings eight characters with a digit are enough`, async () => {
      await eventually('the setting applies', async () => (await attempt(weak)).status === 422);
      assert.equal((await attempt('abcdefg1')).status, 201);
      assert.equal((await attempt('abcdef1')).status, 422);
    });
  await admin.patch('/api/v1/admin/settings', { 'password.require_digit': '', 'password.min_length': '' });
});
