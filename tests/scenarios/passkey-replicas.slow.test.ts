import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { createAuthenticator } from '../harness/sign-in/authenticator.ts';
import { createGround, startStack, usualEnvironment } from '../harness/stacks/stack.ts';

const email = 'ann@example.com';
const password = 'a long enough password';
const auth = '/api/v1/auth/members';
const passkeys = `${auth}/passkeys`;

test('a challenge of one replica is answered at another, once over both', async (t) => {
  await using ground = await createGround();
  await using first = await startStack({ topology: 'one', ground, environment: usualEnvironment });
  await using second = await startStack({ topology: 'one', beside: ground, environment: usualEnvironment });
  const admin = await first.admin();
  await admin.post('/api/v1/collections', { name: 'members', type: 'auth' });
  const begin = () => first.guest.post(`${passkeys}/login/options`, {}, 200);
  await eventually(
    'the second replica has the collection',
    async () => (await second.guest.send('POST', `${passkeys}/login/options`, { body: {} })).status === 200,
  );
  const token = textAt(await first.guest.post(`${auth}/register`, { email, password }), 'token');
  const [here, there] = [createClient(first.url, token), createClient(second.url, token)];
  const key = createAuthenticator();

  await t.test('a new passkey', async () => {
    const body = key.create(await here.post(`${passkeys}/register/options`, {}, 200));
    const answers = await Promise.all(
      [there, here].map((client) => client.send('POST', `${passkeys}/register/verify`, { body })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 401]);
    for (const client of [here, there])
      assert.equal((await client.send('POST', `${passkeys}/register/verify`, { body })).status, 401, 'used');
  });

  await t.test('a sign-in', async () => {
    const body = key.get(await begin());
    assert.equal((await second.guest.send('POST', `${passkeys}/login/verify`, { body })).status, 200);
    for (const { guest } of [first, second])
      assert.equal((await guest.send('POST', `${passkeys}/login/verify`, { body })).status, 401, 'used');
  });

  await t.test('many sign-ins with one challenge at once', async () => {
    const ceremony = await begin();
    const answers = await Promise.all(
      [first, second, first, second, first, second].map(({ guest }) =>
        guest.send('POST', `${passkeys}/login/verify`, { body: key.get(ceremony) }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401, 401]);
  });

  await t.test('a key that was removed at one opens nothing at the other', async () => {
    const { json } = await here.get(passkeys);
    await here.delete(`${passkeys}/${textAt(json, 'data.0.id')}`);
    const body = key.get(await begin());
    assert.equal((await second.guest.send('POST', `${passkeys}/login/verify`, { body })).status, 401);
  });
});
