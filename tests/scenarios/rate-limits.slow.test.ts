import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type Answer, type Client, createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { startSecondGateway } from '../harness/service-process.ts';
import { createGround, firstAdmin, type Ground, type Stack, startStack, type Topology } from '../harness/stack.ts';

interface Rule {
  readonly label: string;
  readonly max: number;
  readonly windowMs?: number;
  readonly audience?: 'all' | 'guest' | 'auth';
}

interface LimitedCall {
  readonly method?: string;
  readonly path: string;
  /** Whose token it comes with, if any. */
  readonly token?: string | undefined;
  /** Where it comes from, as a proxy that is trusted tells; an address of its own when not given. */
  readonly from?: string;
  readonly body?: unknown;
}

/** Whatever is behind it: these tests are about who is counted. */
const trustedProxies = { SERVICE_TRUSTED_PROXIES: '127.0.0.0/8, ::1, 203.0.113.0/24' };
const hourMs = 3_600_000;
const password = 'a long and winding password';

let addresses = 0;
const newAddress = (): string => {
  addresses += 1;
  return `198.18.${addresses >> 8}.${addresses & 255}`;
};

/** One process has one gateway, the services alone have two: what is counted by one counts at the other. */
const gatewaysOf: Readonly<Record<Topology, (stack: Stack) => Promise<{ url: string } & Partial<AsyncDisposable>>>> = {
  one: async (stack) => ({ url: stack.url }),
  processes: (stack) => startSecondGateway(stack, trustedProxies),
};

for (const [topology, startOther] of Object.entries(gatewaysOf) as [Topology, (typeof gatewaysOf)[Topology]][]) {
  describe(`rate limits (${topology})`, () => {
    const tidying = new AsyncDisposableStack();
    let ground: Ground;
    let stack: Stack;
    let gateways: readonly Client[];
    let admin: Client;
    let tokens: { readonly admin: string; readonly ann: string; readonly bob: string };
    let marker = 1_000_000;

    before(async () => {
      ground = tidying.use(await createGround());
      stack = tidying.use(await startStack({ topology, ground, environment: trustedProxies }));
      admin = await stack.admin();
      const other = await startOther(stack);
      tidying.defer(async () => other[Symbol.asyncDispose]?.());
      gateways = [stack.guest, createClient(other.url)];
      await admin.post('/api/v1/collections', { name: 'people', type: 'auth' });
      await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [{ name: 'n', type: 'number' }] });
      const register = async (): Promise<string> => {
        const email = `${randomBytes(6).toString('hex')}@example.com`;
        return String((await stack.guest.post('/api/v1/auth/people/register', { email, password })).token);
      };
      const { token } = await stack.guest.post('/api/v1/admin/login', firstAdmin, 200);
      tokens = { admin: String(token), ann: await register(), bob: await register() };
    });
    after(() => tidying.disposeAsync());

    /** Makes these the rules, and waits until every gateway counts by them. */
    async function follow(rules: readonly Rule[] | 'the default'): Promise<void> {
      marker += 1;
      const text =
        rules === 'the default'
          ? ''
          : JSON.stringify([
              { label: '/api/v1/health', max: marker, windowMs: 1000 },
              ...rules.map((rule) => ({ windowMs: hourMs, ...rule })),
            ]);
      await admin.patch('/api/v1/admin/settings', { 'rate_limit.enabled': '1', 'rate_limit.rules': text });
      const expected = rules === 'the default' ? '300' : String(marker);
      await Promise.all(
        gateways.map((gateway) =>
          eventually('the gateway has the rules', async () => {
            const { headers } = await gateway.get('/api/v1/health');
            return headers['ratelimit-limit'] === expected;
          }),
        ),
      );
    }

    let turn = 0;
    function ask({ method = 'GET', path, token, from = newAddress(), body }: LimitedCall): Promise<Answer> {
      turn += 1;
      const gateway = gateways[turn % gateways.length] ?? stack.guest;
      const headers = { 'X-Forwarded-For': from, ...(token && { Authorization: `Bearer ${token}` }) };
      return gateway.send(method, path, { headers, ...(body !== undefined && { body }) });
    }

    const limitOf = async (asking: LimitedCall): Promise<string | undefined> => {
      const { headers } = await ask(asking);
      return headers['ratelimit-limit'] as string | undefined;
    };

    /** Asks so often, at once, and tells how many were let through. */
    async function countAllowed(times: number, asking: LimitedCall | (() => LimitedCall)): Promise<number> {
      const answers = await Promise.all(
        Array.from({ length: times }, () => ask(typeof asking === 'function' ? asking() : asking)),
      );
      return answers.filter(({ status }) => status !== 429).length;
    }

    test('the default rules count sign-ins, creates, and the whole API [http §8.2]', async () => {
      await follow('the default');
      const notes = { path: '/api/v1/notes' };
      const login = { method: 'POST', path: '/api/v1/auth/people/login', body: { email: 'a@example.com', password } };
      assert.equal(await limitOf(login), '10');
      assert.equal(await limitOf({ ...notes, method: 'POST', body: { n: 1 } }), '60');
      assert.equal(await limitOf(notes), '300');
      assert.equal(await limitOf({ path: '/api/v1/no/such/route' }), '300');
      assert.equal(await limitOf({ path: '/elsewhere' }), undefined);
    });

    test('an answer has the limit, the rest and the reset; a request over it is 429 [http §8.8]', async () => {
      await follow([{ label: '/api/v1/notes', max: 2, windowMs: 60_000 }]);
      const notes = { path: '/api/v1/notes', from: newAddress() };
      for (const remaining of ['1', '0']) {
        const { status, headers } = await ask(notes);
        assert.deepEqual([status, headers['ratelimit-limit'], headers['ratelimit-remaining']], [200, '2', remaining]);
        const resetSec = Number(headers['ratelimit-reset']);
        assert.ok(resetSec > 0 && resetSec <= 60, `seconds from now: ${resetSec}`);
        assert.equal(headers['retry-after'], undefined);
      }
      const { status, headers, json } = await ask(notes);
      assert.equal(status, 429);
      assert.deepEqual(json, { error: 'Too many requests. Try again later.', code: 'rate_limited' });
      assert.deepEqual([headers['ratelimit-limit'], headers['ratelimit-remaining']], ['2', '0']);
      const retryAfterSec = Number(headers['retry-after']);
      assert.ok(retryAfterSec > 0 && retryAfterSec <= 60, `Retry-After: ${retryAfterSec}`);
      assert.equal(headers['x-content-type-options'], 'nosniff');
    });

    test('the most specific rule counts, and only that one [http §8.5]', async () => {
      await follow([
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
      const cases: readonly (readonly [name: string, asking: LimitedCall, limit: number])[] = [
        ['the wildcard, for what no other rule covers', { path: '/nowhere' }, 1001],
        ['a prefix before the wildcard', { path: '/api/v1/nothing/like/it' }, 1002],
        ['an exact path before a prefix', { path: '/api/v1/notes' }, 1003],
        ['an exact path is no prefix', { path: '/api/v1/notes/1' }, 1002],
        ['a rule for tokens before one for all', { path: '/api/v1/notes', token: ann }, 1004],
        ['an action before an exact path', { method: 'POST', path: '/api/v1/notes', body: {} }, 1005],
        ['an action and an exact path', { method: 'DELETE', path: '/api/v1/notes/1' }, 1002],
        ['`/a/*` covers `/a`', { path: '/api/v1/people', token: ann }, 1007],
        ['`/a/*` covers what is below it', { path: '/api/v1/people/1', token: ann }, 1007],
        ['a rule for guests before one for all', { path: '/api/v1/people/1' }, 1008],
        ['a token that is no good makes a guest', { path: '/api/v1/people/1', token: `${ann}x` }, 1008],
        ['all paths of a record are one: short', { path: '/api/notes' }, 1003],
        ['all paths of a record are one: long', { path: '/api/v1/records/notes' }, 1003],
        ['another spelling is no way around', { path: '/api/v1/n%6ftes/' }, 1003],
      ];
      for (const [name, asking, limit] of cases) assert.equal(await limitOf(asking), String(limit), name);
    });

    test('the actions [http §8.4]', async () => {
      const actions = ['auth', 'create', 'list', 'view', 'update', 'delete'];
      await follow([
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

    test('only a client over its limit is refused [http §8.7]', async () => {
      await follow([
        { label: '/api/v1/notes', max: 2 },
        { label: '*:auth', max: 2 },
      ]);
      const notes = '/api/v1/notes';
      const { ann, bob, admin: adminToken } = tokens;
      const used = async (asking: LimitedCall) => assert.equal(await countAllowed(3, asking), 2);
      const isAllowed = async (asking: LimitedCall) => (await ask(asking)).status !== 429;
      await used({ path: notes, from: '192.0.2.1' });
      assert.ok(await isAllowed({ path: notes, from: '192.0.2.2' }), 'another address');
      assert.ok(await isAllowed({ path: notes, from: '192.0.2.1', token: ann }), 'a user at that address');
      assert.ok(!(await isAllowed({ path: notes, from: '192.0.2.1', token: 'expired' })), 'a token that is no good');

      await used({ path: notes, from: '2001:db8:1:2::1' });
      assert.ok(!(await isAllowed({ path: notes, from: '2001:db8:1:2:ffff::9' })), 'the same /64');
      assert.ok(await isAllowed({ path: notes, from: '2001:db8:1:3::1' }), 'another /64');

      assert.ok(await isAllowed({ path: notes, token: ann }));
      assert.ok(!(await isAllowed({ path: notes, token: ann })), 'a user, from wherever');
      assert.ok(await isAllowed({ path: notes, token: bob }), 'another user');
      await used({ path: notes, token: adminToken });

      const login = { method: 'POST', path: '/api/v1/auth/people/login', body: {} };
      assert.equal(await countAllowed(2, { ...login, from: '192.0.2.7', token: ann }), 2);
      assert.ok(!(await isAllowed({ ...login, from: '192.0.2.7', token: bob })), 'signing in is counted by address');
      assert.ok(await isAllowed({ ...login, from: '192.0.2.8', token: ann }), 'a signed-in user');
      await follow([{ label: '/api/v1/auth/*', max: 2 }]);
      assert.equal(await countAllowed(2, { ...login, from: '192.0.2.9', token: ann }), 2);
      assert.ok(!(await isAllowed({ ...login, from: '192.0.2.9', token: bob })), 'under a rule for paths too');
    });

    test('X-Forwarded-For is read from the right, trusted addresses skipped [http §9.2]', async () => {
      await follow([{ label: '/api/v1/notes', max: 1 }]);
      const isCountedAs = async (from: string, known: string) => {
        assert.equal((await ask({ path: '/api/v1/notes', from: known })).status, 200, known);
        assert.equal((await ask({ path: '/api/v1/notes', from })).status, 429, `${from} as ${known}`);
      };
      await isCountedAs('1.1.1.1, 198.51.100.1', '198.51.100.1');
      await isCountedAs('198.51.100.2, 203.0.113.7, 127.0.0.9', '198.51.100.2');
      await isCountedAs('198.51.100.3:4711', '198.51.100.3');
      await isCountedAs('::ffff:198.51.100.4', '198.51.100.4');
      await isCountedAs('[2001:DB8:77:0::1]:80', '2001:db8:77::1');
      await isCountedAs('198.51.100.5, rubbish, 203.0.113.8', '203.0.113.8');
    });

    test('the setting overrides the environment: an untrusted peer is the client [http §9.1]', async () => {
      await follow([{ label: '/api/v1/notes', max: 1, audience: 'guest' }]);
      const statusAt = async (gateway: Client) =>
        (await gateway.send('GET', '/api/v1/notes', { headers: { 'X-Forwarded-For': newAddress() } })).status;
      const all = async (status: number) => {
        for (const gateway of gateways)
          await eventually(`every client gets ${status}`, async () => (await statusAt(gateway)) === status);
      };
      await all(200);
      await admin.patch('/api/v1/admin/settings', { 'security.trusted_proxies': '192.0.2.0/24' });
      await all(429);
      await admin.patch('/api/v1/admin/settings', { 'security.trusted_proxies': '' });
      await all(200);
    });

    test('the audit log names the client, not the proxy [http §9.4]', async () => {
      const headers = { 'X-Forwarded-For': '198.51.100.77' };
      const body = { 'app.url': 'https://app.example.com' };
      assert.equal((await admin.send('PATCH', '/api/v1/admin/settings', { headers, body })).status, 200);
      const audit = await admin.get('/api/v1/admin/audit?action=settings.update&perPage=1');
      assert.equal(at(audit.json, 'data.0.ip'), '198.51.100.77');
    });

    test('a limit for signing in is exact over all gateways under parallel load [docs/gateway]', async () => {
      await follow([{ label: '*:auth', max: 25 }]);
      const login = { method: 'POST', path: '/api/v1/auth/people/login', from: newAddress(), body: {} };
      assert.equal(await countAllowed(120, login), 25);
    });

    test('the others are never exceeded, and reached but for a tenth [docs/gateway]', async () => {
      await follow([{ label: '/api/v1/notes', max: 100 }]);
      const allowed = await countAllowed(250, { path: '/api/v1/notes', from: newAddress() });
      assert.ok(allowed >= 90 && allowed <= 100, `${allowed} of 100`);
    });

    test('a new window has the full limit [http §8.8]', async () => {
      await follow([{ label: '/api/v1/notes', max: 3, windowMs: 1500 }]);
      const notes = { path: '/api/v1/notes', from: newAddress() };
      await eventually('it is used up', async () => (await ask(notes)).status === 429);
      const first = await eventually('a new one', async () => {
        const answer = await ask(notes);
        return answer.status === 200 ? answer : undefined;
      });
      assert.equal(first.headers['ratelimit-remaining'], '2');
    });

    test('what runs the process may ask how it is as often as it likes [docs/gateway]', async () => {
      await follow([{ label: '*', max: 1, audience: 'guest' }]);
      for (const path of ['/healthz', '/readyz'])
        assert.equal(await countAllowed(5, { path, from: '192.0.2.99' }), 5, path);
    });

    test('limits hold while the bus is away [docs/gateway]', async () => {
      await follow([
        { label: '*:auth', max: 10 },
        { label: '/api/v1/notes', max: 40 },
      ]);
      await ground.bus.kill();
      const login = { method: 'POST', path: '/api/v1/auth/people/login', from: newAddress(), body: {} };
      assert.equal(await countAllowed(40, login), 10);
      const allowed = await countAllowed(100, { path: '/api/v1/notes', from: newAddress() });
      assert.ok(allowed >= 36 && allowed <= 40, `${allowed} of 40`);
      await ground.bus.start();
    });

    test('when switched off, nothing is counted [http §8.1]', async () => {
      await follow([{ label: '*', max: 1, audience: 'guest' }]);
      await admin.patch('/api/v1/admin/settings', { 'rate_limit.enabled': '0' });
      const from = '192.0.2.123';
      for (const gateway of gateways)
        await eventually('the gateway counts no more', async () => {
          const { headers } = await gateway.send('GET', '/api/v1/notes', { headers: { 'X-Forwarded-For': from } });
          return headers['ratelimit-limit'] === undefined;
        });
      assert.equal(await countAllowed(5, { path: '/api/v1/notes', from }), 5);
    });
  });
}
