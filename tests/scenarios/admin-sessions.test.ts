import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { mint, mintUserToken } from '../harness/sign-in/tokens.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { firstAdmin } from '../harness/stacks/stack.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const path = '/api/v1/admin';
const session = { data: { token: is.text, admin: { id: is.uuid, email: firstAdmin.email } } };

onEachTopology('an admin signs in and refreshes the session', async (t, target) => {
  await target.admin();
  const login = (body: object): Pick<Scenario, 'request' | 'body'> => ({ request: `POST ${path}/login`, body });
  const wrong = {
    ...refused.invalidCredentials,
    json: { error: 'invalid credentials', code: is.code },
  };
  await runScenarios(t, target, [
    {
      name: 'the right password',
      ...login(firstAdmin),
      expect: { status: 200, json: session },
      spec: 'admins §2',
    },
    {
      name: 'the address in another case, with spaces',
      ...login({ ...firstAdmin, email: ' ADA@Example.com ' }),
      expect: { status: 200, json: session },
      spec: 'auth §1.3',
    },
    {
      name: 'a wrong password',
      ...login({ ...firstAdmin, password: 'incorrect horse battery' }),
      expect: wrong,
      spec: 'admins §2',
    },
    {
      name: 'an unknown address gets the same answer',
      ...login({ ...firstAdmin, email: 'nobody@example.com' }),
      expect: wrong,
      spec: 'admins §2',
    },
    {
      name: 'missing members',
      ...login({}),
      expect: refused.invalid('email', 'password'),
      spec: 'http §4.3',
    },
    {
      name: 'a refresh with a token',
      as: 'admin',
      request: 'POST /api/v1/auth/refresh',
      expect: { status: 200, json: session },
      spec: 'auth §9.2',
    },
    {
      name: 'a refresh without a token',
      request: 'POST /api/v1/auth/refresh',
      expect: refused.unauthenticated,
      spec: 'http §6.2',
    },
    {
      name: 'an admin sees their own account',
      as: 'admin',
      request: `GET ${path}/me`,
      expect: { status: 200, json: { data: is.containing({ id: is.uuid, email: firstAdmin.email }) } },
      spec: 'admins §4.1',
    },
  ]);
});

onEachTopology('admin routes are for admins', async (t, target) => {
  const { secret } = target;
  await target.admin();
  const admin = { aud: 'admin', id: '01980000-0000-7000-8000-000000000002', email: 'eve@example.com' };
  const nowSec = Math.floor(Date.now() / 1000);
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const badTokens = {
    'that is not a JWT': 'abc.def.ghi',
    'signed with another secret': await mint('f'.repeat(64), admin),
    'that has expired': await mint(secret, { ...admin, iat: nowSec - 7200, exp: nowSec - 3600 }),
    'without a signature': `${encode({ alg: 'none', typ: 'JWT' })}.${encode({ ...admin, iat: nowSec, exp: nowSec + 3600 })}.`,
    'for two audiences': await mint(secret, { ...admin, aud: ['user', 'admin'] }),
  };
  const routes = [
    'GET /api/v1/collections',
    'POST /api/v1/collections',
    `GET ${path}/settings`,
    `PATCH ${path}/settings`,
    `GET ${path}/webhooks`,
    `POST ${path}/webhooks`,
  ];
  const bodyOf = (request: string) => (request.startsWith('GET') ? {} : { body: {} });
  await runScenarios(t, target, [
    ...routes.map(
      (request): Scenario => ({
        name: `${request} without a token`,
        request,
        ...bodyOf(request),
        expect: refused.unauthenticated,
        spec: 'http §6.2',
      }),
    ),
    ...routes.map(
      (request): Scenario => ({
        name: `${request} by a user`,
        as: 'user',
        request,
        ...bodyOf(request),
        expect: refused.forbidden,
        spec: 'http §6.3',
      }),
    ),
    ...Object.entries(badTokens).map(
      ([which, token]): Scenario => ({
        name: `a token ${which}`,
        request: `GET ${path}/settings`,
        headers: { Authorization: `Bearer ${token}` },
        expect: refused.unauthenticated,
        spec: 'http §6.2',
      }),
    ),
    {
      name: 'a scheme other than Bearer',
      request: `GET ${path}/settings`,
      headers: { Authorization: `Basic ${Buffer.from('ada:lovelace').toString('base64')}` },
      expect: refused.unauthenticated,
      spec: 'http §6.1',
    },
    {
      name: 'a token in the query',
      request: `GET ${path}/settings?token=${await mintUserToken(secret)}`,
      expect: refused.unauthenticated,
      spec: 'http §6.1',
    },
  ]);
});
