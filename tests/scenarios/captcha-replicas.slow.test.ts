import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { createGround, startStack, usualEnvironment } from '../harness/stacks/stack.ts';
import { solveCaptcha } from './solve-captcha.ts';

const auth = '/api/v1/auth/gated';
let people = 0;

test('a solved captcha counts once over two replicas [auth §10.1]', async (t) => {
  await using ground = await createGround();
  await using first = await startStack({ topology: 'one', ground, environment: usualEnvironment });
  await using second = await startStack({ topology: 'one', beside: ground, environment: usualEnvironment });
  const admin = await first.admin();
  await admin.post('/api/v1/collections', { name: 'gated', type: 'auth', create_rule: null });
  await admin.patch('/api/v1/admin/settings', {
    'auth.captcha.gated': JSON.stringify({ provider: 'altcha', on: ['register'] }),
  });
  for (const { guest } of [first, second])
    await eventually('the replica asks', async () => (await guest.get(`${auth}/captcha`)).status === 200);
  const account = (captcha: string) => {
    people += 1;
    return { email: `person${people}@example.com`, password: 'a long enough password', captcha };
  };
  const statuses = async (path: string, captcha: string) => {
    const answers = await Promise.all(
      [first, second, first, second, first, second].map(({ guest }) =>
        guest.send('POST', path, { body: account(captcha) }),
      ),
    );
    for (const { status, json } of answers) if (status !== 201) assert.equal(at(json, 'code'), 'captcha_failed');
    return answers.map(({ status }) => status).sort();
  };

  await t.test("one replica's challenge is solved at the other, for several at once", async () => {
    const solved = await solveCaptcha(first.guest, 'gated');
    assert.deepEqual(await statuses(`${auth}/register`, solved), [201, 422, 422, 422, 422, 422]);
    for (const { guest } of [first, second])
      assert.equal((await guest.send('POST', `${auth}/register`, { body: account(solved) })).status, 422, 'used');
  });

  await t.test('at the records API, and at both doors together', async () => {
    const solved = await solveCaptcha(second.guest, 'gated');
    assert.deepEqual(await statuses('/api/v1/gated', solved), [201, 422, 422, 422, 422, 422]);
    const again = await first.guest.send('POST', `${auth}/register`, { body: account(solved) });
    assert.equal(at(again.json, 'code'), 'captcha_failed');
  });
});
