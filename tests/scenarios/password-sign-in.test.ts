import assert from 'node:assert/strict';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { auth, createUsers, password, signUp, userRecord } from './users.ts';

const fields = [
  { name: 'nick', type: 'text', options: { min: 2, max: 10, pattern: '^[a-z]+$' } },
  { name: 'age', type: 'number' },
];

const session = (email: string, more: object = {}) => ({
  data: { token: is.text, record: userRecord(email, { age: null, ...more }) },
});

const invalidCredentials = { status: 401, json: { error: 'invalid credentials', code: 'invalid_credentials' } };

onEachTopology('a guest registers with address and password', async (t, target) => {
  const users = await createUsers(target, { fields });
  const register = (body: unknown): Pick<Scenario, 'request' | 'body' | 'spec'> => ({
    request: `POST ${auth}/${users}/register`,
    body,
    spec: 'auth §3.1',
  });
  const events = [`${users}.create`];
  await runScenarios(t, target, [
    {
      name: 'address, password and fields create an account and a session; the domain is in lower case',
      ...register({ email: 'Ann@Example.com', password, nick: 'ann', age: 30 }),
      expect: { status: 201, json: session('Ann@example.com', { nick: 'ann', age: 30 }) },
      events,
    },
    {
      name: 'whitespace around the address is removed',
      ...register({ email: ' bob@example.com\n', password }),
      expect: { status: 201, json: session('bob@example.com') },
      events,
    },
    {
      name: 'a taken address in another case, with spaces',
      ...register({ email: ' aNN@example.COM ', password }),
      expect: refused.invalid('email'),
    },
    {
      name: 'several invalid members at once',
      ...register({ email: 'nowhere', password: 'short', nick: 'A', colour: 'red' }),
      expect: refused.invalid('email', 'password', 'nick', 'colour'),
    },
    { name: 'an empty object', ...register({}), expect: refused.invalid('email', 'password') },
    {
      name: 'a password that is a number',
      ...register({ email: 'c@example.com', password: 123456789012 }),
      expect: refused.invalid('password'),
    },
    {
      name: 'a guest who registers as verified',
      ...register({ email: 'c@example.com', password, verified: true }),
      expect: refused.forbiddenIn('verified'),
    },
    ...['password_hash', 'token_version', 'totp_enabled', 'is_anonymous', 'has_password', 'password_reset_at'].map(
      (column): Scenario => ({
        name: `the column ${column} as a member`,
        ...register({ email: 'c@example.com', password, [column]: 'x' }),
        expect: refused.invalid(column),
      }),
    ),
    {
      name: 'members that only the server sets are ignored',
      ...register({ email: 'd@example.com', password, anonymous: true, id: 'mine', verified: false }),
      expect: { status: 201, json: session('d@example.com') },
      events,
    },
    { name: 'a body that is not an object', ...register([]), expect: refused.malformed },
    {
      name: 'an unknown collection',
      request: `POST ${auth}/nobody_here/register`,
      body: { email: 'c@example.com', password },
      expect: refused.notFound,
      spec: 'auth §1.1',
    },
  ]);
});

onEachTopology('a user signs in with address and password', async (t, target) => {
  const users = await createUsers(target, { fields });
  const other = await createUsers(target, { fields });
  const base = `base_${users}`;
  await (await target.admin()).post('/api/v1/collections', { name: base, type: 'base', fields: [] });
  await signUp(target, users, 'ann@example.com');
  await signUp(target, other, 'otto@example.com');
  const login = (body: unknown, collection = users): Pick<Scenario, 'request' | 'body' | 'spec'> => ({
    request: `POST ${auth}/${collection}/login`,
    body,
    spec: 'auth §4.1',
  });
  await runScenarios(t, target, [
    {
      name: 'the right password',
      ...login({ email: 'ann@example.com', password }),
      expect: { status: 200, json: session('ann@example.com') },
    },
    {
      name: 'the address in another case, with spaces',
      ...login({ email: '  ANN@example.com ', password }),
      expect: { status: 200, json: session('ann@example.com') },
    },
    ...[`${password} `, password.toUpperCase(), '', 'x'.repeat(5000)].map(
      (wrong, index): Scenario => ({
        name: `a wrong password (${index})`,
        ...login({ email: 'ann@example.com', password: wrong }),
        expect: invalidCredentials,
      }),
    ),
    ...['nobody@example.com', 'otto@example.com', 'not an address', "' or true --", '', 'ann@example.com\u0000'].map(
      (email): Scenario => ({
        name: `an unknown address gets the same answer (${JSON.stringify(email)})`,
        ...login({ email, password }),
        expect: invalidCredentials,
      }),
    ),
    { name: 'an empty object', ...login({}), expect: refused.invalid('email', 'password') },
    { name: 'a base collection', ...login({ email: 'a', password }, base), expect: refused.notFound },
    {
      name: 'an unknown collection, with an invalid body',
      ...login([], 'nobody_here'),
      expect: refused.notFound,
    },
  ]);
});

onEachTopology('many parallel sign-ins are answered, and delay no other request', async (t, target) => {
  const users = await createUsers(target, { list_rule: null });
  await signUp(target, users, 'ann@example.com');
  let answered = 0;
  const logins = Array.from({ length: 60 }, async (_, index) => {
    const email = index % 2 === 0 ? 'ann@example.com' : `nobody${index}@example.com`;
    const { status } = await target.guest.send('POST', `${auth}/${users}/login`, { body: { email, password } });
    answered += 1;
    return status;
  });
  await t.test('other routes are answered while passwords are checked', async () => {
    const list = await target.guest.get(`/api/v1/${users}?perPage=1`);
    assert.equal(list.status, 200);
    assert.ok(answered < logins.length, 'the list was answered after the last sign-in');
  });
  await t.test('every sign-in gets its status', async () => {
    const statuses = await Promise.all(logins);
    assert.deepEqual(
      statuses,
      statuses.map((_, index) => (index % 2 === 0 ? 200 : 401)),
    );
  });
});
