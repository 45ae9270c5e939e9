import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { type LimitedCall, type LimitedStack, newAddress, password } from './limited-stack.ts';

/** Which rule applies to a request, and what the answer says. */
export async function rules(t: TestContext, stack: LimitedStack): Promise<void> {
  const { admin, gateways, tokens, setRules, call, limitOf, countAllowed } = stack;

  await t.test('the default rules count sign-ins, creates, and the whole API [http §8.2]', async () => {
    await setRules('the default');
    const notes = { path: '/api/v1/notes' };
    const login = { method: 'POST', path: '/api/v1/auth/people/login', body: { email: 'a@example.com', password } };
    assert.equal(await limitOf(login), '10');
    assert.equal(await limitOf({ ...notes, method: 'POST', body: { n: 1 } }), '60');
    assert.equal(await limitOf(notes), '300');
    assert.equal(await limitOf({ path: '/api/v1/no/such/route' }), '300');
    assert.equal(await limitOf({ path: '/elsewhere' }), undefined);
  });

  await t.test(
    'an answer has the limit, the remaining requests and the reset; a request over the limit is 429 [http §8.8]',
    async () => {
      await setRules([{ label: '/api/v1/notes', max: 2, windowMs: 60_000 }]);
      const notes = { path: '/api/v1/notes', from: newAddress() };
      for (const remaining of ['1', '0']) {
        const { status, headers } = await call(notes);
        assert.deepEqual([status, headers['ratelimit-limit'], headers['ratelimit-remaining']], [200, '2', remaining]);
        const resetSec = Number(headers['ratelimit-reset']);
        assert.ok(resetSec > 0 && resetSec <= 60, `seconds from now: ${resetSec}`);
        assert.equal(headers['retry-after'], undefined);
      }
      const { status, headers, json } = await call(notes);
      assert.equal(status, 429);
      assert.deepEqual(json, { error: 'Too many requests. Try again later.', code: 'rate_limited' });
      assert.deepEqual([headers['ratelimit-limit'], headers['ratelimit-remaining']], ['2', '0']);
      const retryAfterSec = Number(headers['retry-after']);
      assert.ok(retryAfterSec > 0 && retryAfterSec <= 60, `Retry-After: ${retryAfterSec}`);
      assert.equal(headers['x-content-type-options'], 'nosniff');
    },
  );

  await t.test('only the most specific rule applies [http §8.5]', async () => {
    await setRules([
      { label: '*', max: 1001 },
      { label: '/api/*', max: 1002 },
      { label: '/api/v1/notes', max: 1003 },
      { label: '/api/v1/notes', max: 1004, audience: 'auth' },
      { label: '*:create', max: 1005 },
      { label: '/api/v1/notes:delete', max: 1006 },
      { label: '/api/v1/people/*', max: 1007 },
      { label: '/api/v1/people/*', max: 1008, audience: 'guest' },
    ]);
    const { ann } = tokens;
    const cases: readonly (readonly [name: string, limited: LimitedCall, limit: number])[] = [
      ['the wildcard, where no other rule matches', { path: '/nowhere' }, 1001],
      ['a prefix before the wildcard', { path: '/api/v1/nothing/like/it' }, 1002],
      ['an exact path before a prefix', { path: '/api/v1/notes' }, 1003],
      ['a path below an exact path', { path: '/api/v1/notes/1' }, 1002],
      ['a rule for tokens before one for all', { path: '/api/v1/notes', token: ann }, 1004],
      ['an action before an exact path', { method: 'POST', path: '/api/v1/notes', body: {} }, 1005],
      ['an action and an exact path', { method: 'DELETE', path: '/api/v1/notes/1' }, 1002],
      ['`/a/*` covers `/a`', { path: '/api/v1/people', token: ann }, 1007],
      ['`/a/*` covers paths below `/a`', { path: '/api/v1/people/1', token: ann }, 1007],
      ['a rule for guests before one for all', { path: '/api/v1/people/1' }, 1008],
      ['an invalid token makes a guest', { path: '/api/v1/people/1', token: `${ann}x` }, 1008],
      ['the short path of a collection', { path: '/api/notes' }, 1003],
      ['the long path of a collection', { path: '/api/v1/records/notes' }, 1003],
      ['an encoded path', { path: '/api/v1/n%6ftes/' }, 1003],
    ];
    for (const [name, limited, limit] of cases) assert.equal(await limitOf(limited), String(limit), name);
  });

  await t.test('each route counts for its action [http §8.4]', async () => {
    const actions = ['auth', 'create', 'list', 'view', 'update', 'delete'];
    await setRules([
      { label: '*', max: 2000 },
      ...actions.map((name, index) => ({ label: `*:${name}`, max: 2001 + index })),
    ]);
    const auth = '/api/v1/auth/people';
    const requests: Readonly<Record<string, readonly string[]>> = {
      auth: [
        `POST ${auth}/register`,
        `POST ${auth}/login`,
        `POST ${auth}/login/mfa`,
        `POST ${auth}/otp/request`,
        `POST ${auth}/otp/auth`,
        `POST ${auth}/request-password-reset`,
        `POST ${auth}/confirm-password-reset`,
        `POST ${auth}/oauth2/exchange`,
        `POST ${auth}/oauth2/merge-confirm`,
        `POST ${auth}/anonymous`,
        `POST ${auth}/promote`,
        'POST /api/v1/admin/login',
        'POST /api/v1/admin/setup',
      ],
      create: ['POST /api/v1/notes'],
      list: ['GET /api/v1/notes', 'HEAD /api/v1/records/notes'],
      view: ['GET /api/v1/notes/1'],
      update: ['PATCH /api/v1/notes/1'],
      delete: ['DELETE /api/v1/notes/1'],
      none: ['GET /api/v1/collections', 'POST /api/v1/collections', `POST ${auth}/request-verify`, 'GET /nowhere'],
    };
    for (const [action, list] of Object.entries(requests)) {
      for (const request of list) {
        const [method = '', path = ''] = request.split(' ');
        assert.equal(await limitOf({ method, path }), String(2001 + actions.indexOf(action)), request);
      }
    }
  });

  await t.test('a PUT counts for updates and for creates [http §8.4]', async () => {
    const put = { method: 'PUT', path: '/api/v1/notes/1', body: {} };
    for (const [updates, creates] of [
      [7, 5],
      [5, 7],
    ] as const) {
      await setRules([
        { label: '*:update', max: updates },
        { label: '*:create', max: creates },
      ]);
      const from = newAddress();
      assert.equal(await limitOf({ ...put, from }), '5');
      await call({ method: 'POST', path: '/api/v1/notes', body: {}, from });
      assert.equal(await countAllowed(10, { ...put, from }), creates === 5 ? 3 : 4);
    }
  });

  await t.test('a new window has the full limit [http §8.8]', async () => {
    await setRules([{ label: '/api/v1/notes', max: 3, windowMs: 1500 }]);
    const notes = { path: '/api/v1/notes', from: newAddress() };
    await eventually('the limit is used up', async () => (await call(notes)).status === 429);
    const first = await eventually('a new window', async () => {
      const answer = await call(notes);
      return answer.status === 200 ? answer : undefined;
    });
    assert.equal(first.headers['ratelimit-remaining'], '2');
  });

  await t.test('nothing is counted while limits are disabled [http §8.1]', async () => {
    await setRules([{ label: '*', max: 1, audience: 'guest' }]);
    await admin.patch('/api/v1/admin/settings', { 'rate_limit.enabled': '0' });
    const from = '192.0.2.123';
    for (const gateway of gateways)
      await eventually('the gateway no longer counts', async () => {
        const { headers } = await gateway.send('GET', '/api/v1/notes', { headers: { 'X-Forwarded-For': from } });
        return headers['ratelimit-limit'] === undefined;
      });
    assert.equal(await countAllowed(5, { path: '/api/v1/notes', from }), 5);
  });
}
