import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt, textAt } from '../harness/json.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { createGround, startStack, usualEnvironment } from '../harness/stacks/stack.ts';

const password = 'a long enough password';
const auth = '/api/v1/auth/wardens';

test('a sign-in at one replica sets its second factor up at another, once over both', async (t) => {
  await using ground = await createGround();
  await using first = await startStack({ topology: 'one', ground, environment: usualEnvironment });
  await using second = await startStack({ topology: 'one', beside: ground, environment: usualEnvironment });
  const admin = await first.admin();
  await admin.post('/api/v1/collections', { name: 'wardens', type: 'auth' });
  for (const email of ['ann@example.com', 'bob@example.com'])
    await first.guest.post(`${auth}/register`, { email, password });
  await admin.patch('/api/v1/admin/settings', { 'auth.mfa.required.wardens': 'id != null' });
  const login = (guest: typeof first.guest, email: string) =>
    guest.send('POST', `${auth}/login`, { body: { email, password } });
  for (const { guest } of [first, second])
    await eventually('the replica follows the setting', async () => {
      const { json } = await login(guest, 'ann@example.com');
      return at(json, 'data.mfa_enrollment_required') === true;
    });

  await t.test('the token, the secret and the code', async () => {
    const token = textAt(objectAt((await login(first.guest, 'ann@example.com')).json, 'data'), 'enrollment_token');
    const [here, there] = [createClient(first.url, token), createClient(second.url, token)];
    const { secret } = (await there.post(`${auth}/totp/setup`, {}, 200)) as { secret: string };
    const body = { code: totpCode(secret) };
    const answers = await Promise.all(
      [here, there, here, there].map((client) => client.send('POST', `${auth}/totp/confirm`, { body })),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const client of [here, there])
      assert.equal((await client.send('POST', `${auth}/totp/setup`, { body: {} })).status, 401, 'used');
    assert.equal(at((await login(second.guest, 'ann@example.com')).json, 'data.mfa_required'), true);
  });

  await t.test('a token ends at both when the rule no longer holds', async () => {
    const token = textAt(objectAt((await login(first.guest, 'bob@example.com')).json, 'data'), 'enrollment_token');
    await admin.patch('/api/v1/admin/settings', { 'auth.mfa.required.wardens': '' });
    for (const { url } of [first, second])
      await eventually('the token has ended', async () => {
        const setup = createClient(url, token).send('POST', `${auth}/totp/setup`, { body: {} });
        return (await setup).status === 401;
      });
  });
});
