import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, type Client, createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { type PostgresPair, startPostgresPair } from '../harness/postgres-pair.ts';
import { createGround, firstAdmin, type Stack, startStack, type Topology } from '../harness/stack.ts';

const collection = 'notes';
const open = { list_rule: null, view_rule: null, create_rule: null, update_rule: null, delete_rule: null };
const definition = { name: collection, type: 'base', fields: [{ name: 'value', type: 'number' }], ...open };

/** The number of rounds of a writer that reads its own writes, and of writers. */
const rounds = Number(process.env.TEST_REPLICA_ROUNDS ?? 12);
const writers = Number(process.env.TEST_REPLICA_WRITERS ?? 5);

interface Replicated extends AsyncDisposable {
  readonly pair: PostgresPair;
  readonly stack: Stack;
  readonly admin: Client;
  /** Another gateway on the same database, and its services. */
  readonly other: Stack;
}

async function startReplicated(topology: Topology): Promise<Replicated> {
  const kept = new AsyncDisposableStack();
  const pair = kept.use(await startPostgresPair('asynchronous'));
  const ground = kept.use(await createGround({ url: pair.url, drop: async () => {} }));
  const environment = { SERVICE_DATABASE_REPLICA_URLS: pair.standbyUrl };
  const stack = kept.use(await startStack({ topology, ground, environment }));
  const other = kept.use(await startStack({ topology: 'one', beside: ground, environment }));
  const admin = await stack.admin();
  await admin.patch('/api/v1/admin/settings', { 'metrics.enabled': '1' });
  await admin.post('/api/v1/collections', definition);
  await admin.post('/api/v1/collections', { name: 'people', type: 'auth', create_rule: null });
  await eventually('metrics are served', async () => (await stack.guest.get('/api/v1/metrics')).status === 200);
  return { pair, stack, other, admin, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Returns the number of reads with this result so far. */
async function readsOf({ stack }: Replicated, result: 'replica' | 'behind' | 'failed'): Promise<number> {
  const { text } = await stack.guest.get('/api/v1/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith('recordbus_read_replica_reads_total{'));
  const counted = lines.filter((line) => line.includes(`result="${result}"`));
  return counted.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

async function delay({ pair }: Replicated, by: string): Promise<void> {
  await pair.onStandby(`alter system set recovery_min_apply_delay = '${by}'`);
  await pair.onStandby('select pg_reload_conf()');
}

/** Waits until the standby has caught up with the primary. */
const level = ({ pair }: Replicated): Promise<unknown> =>
  eventually('the standby is level', async () => {
    const [primary] = await pair.onPrimary('select pg_current_wal_lsn()::text as lsn');
    const [standby] = await pair.onStandby(`select pg_last_wal_replay_lsn() >= '${primary?.lsn}' as has`);
    return standby?.has === true;
  });

interface OthersDuring {
  readonly answers: readonly Answer[];
  /** How long other requests took meanwhile, sorted, in milliseconds. */
  readonly othersMs: readonly number[];
}

/** Sends gets and lists of one client, all at once, and meanwhile one after the other a get and a write of another. */
async function duringReads(other: Client, sending: () => Promise<Answer>[]): Promise<OthersDuring> {
  const { id } = await other.create(collection, { value: 0 });
  let isOver = false;
  const reads = Promise.all(sending()).finally(() => {
    isOver = true;
  });
  const othersMs: number[] = [];
  for (let value = 1; !isOver; value += 1)
    for (const [method, body] of [['GET'], ['PATCH', { value }]] as const) {
      const startedAtMs = performance.now();
      const { status } = await other.send(method, `/api/v1/${collection}/${id}`, { body });
      assert.equal(status, 200);
      othersMs.push(performance.now() - startedAtMs);
    }
  return { answers: await reads, othersMs: othersMs.sort((a, b) => a - b) };
}

const signUp = async (stack: Stack, name: string): Promise<string> =>
  textAt(
    await stack.guest.post('/api/v1/auth/people/register', {
      email: `${name}@example.com`,
      password: firstAdmin.password,
    }),
    'token',
  );

const valueAt = (json: unknown): unknown => at(json, 'data.value') ?? at(json, 'data.0.value');

/** Writes as each caller, and reads each write right after it, in several ways at once. Returns how many reads missed it. */
async function readOwnWrites(clients: readonly Client[]): Promise<{ readonly reads: number; readonly stale: number }> {
  const counted = { reads: 0, stale: 0 };
  const runs = clients.map(async (client) => {
    const { id } = await client.create(collection, { value: 0 });
    const ownFilter = `?filter=id%3D%22${id}%22`;
    const paths = [`/${id}`, `/${id}?fields=value`, ownFilter, `${ownFilter}&skipTotal=1`];
    for (let value = 1; value <= rounds; value += 1) {
      await client.patch(`/api/v1/${collection}/${id}`, { value });
      const answers = await Promise.all(paths.map((path) => client.get(`/api/v1/${collection}${path}`)));
      counted.reads += answers.length;
      counted.stale += answers.filter(({ json }) => valueAt(json) !== value).length;
    }
  });
  await Promise.all(runs);
  return counted;
}

test('every caller reads its own writes, however far the read replica lags', async (t) => {
  await using replicated = await startReplicated('processes');
  const { stack, other, admin } = replicated;
  const names = Array.from({ length: writers }, (_, index) => `writer${index}`);
  const tokens = await Promise.all(names.map((name) => signUp(stack, name)));
  const clients = tokens.map((token) => createClient(stack.url, token));
  for (const by of ['0', '20ms', '400ms']) {
    await delay(replicated, by);
    const before = await readsOf(replicated, 'replica');
    const { reads, stale } = await readOwnWrites(by === '400ms' ? clients.slice(0, 2) : clients);
    assert.equal(stale, 0, `${stale} of ${reads} reads missed the caller's write, with a delay of ${by}`);
    const onReplica = (await readsOf(replicated, 'replica')) - before;
    t.diagnostic(`delay ${by}: ${reads} reads, ${stale} stale, ${onReplica} ran on the replica`);
    if (by === '0') assert.ok((await readsOf(replicated, 'replica')) > before, 'the replica serves reads');
  }
  assert.ok((await readsOf(replicated, 'behind')) > 0, 'the primary serves what the replica lacks');

  // Longer than the reads below take on a busy machine, and shorter than the 30 s after which a replica must have everything.
  await delay(replicated, '20s');
  const { id } = await admin.create(collection, { value: 1 });
  const path = `/api/v1/${collection}/${id}`;
  const [token = ''] = tokens;

  await t.test(
    'a caller who has not written may get an older state, and a caller who accepts an older state gets it',
    async () => {
      assert.equal((await stack.guest.get(path)).status, 404);
      assert.equal((await admin.get(path)).status, 200);
      assert.equal((await admin.get(`${path}?consistency=eventual`)).status, 404);
      assert.equal((await admin.get(`${path}?consistency=strong`)).status, 400);
    },
  );

  await t.test('a new user sees the account at once', async () => {
    const body = { email: 'new@example.com', password: firstAdmin.password };
    const session = await stack.guest.post('/api/v1/auth/people/register', body);
    const caller = createClient(stack.url, textAt(session, 'token'));
    assert.equal((await caller.get(`/api/v1/people/${textAt(session, 'record.id')}`)).status, 200);
  });

  await t.test('the header of a write gives any caller its state at any gateway', async () => {
    const { headers } = await admin.send('PATCH', path, { body: { value: 2 } });
    const state = String(headers['x-service-consistency']);
    for (const to of [stack, other])
      for (const sent of [
        state,
        'primary',
        'no such state',
        'ffffffff-ffffffffffffffff',
        '00000001-ffffffffffffffff',
      ]) {
        const { json } = await to.guest.send('GET', path, { headers: { 'X-Service-Consistency': sent } });
        assert.equal(valueAt(json), 2, sent);
      }
    assert.equal(valueAt((await stack.guest.get(`${path}?consistency=eventual`)).json), undefined);
  });

  await t.test('a thousand reads that wait for the replica at once do not delay other requests', async (t) => {
    const { headers } = await admin.send('PATCH', path, { body: { value: 2 } });
    const after = { headers: { 'X-Service-Consistency': String(headers['x-service-consistency']) } };
    const paths = [`${path}?fields=value`, `/api/v1/${collection}?skipTotal=1`];
    const thousand =
      (more: object, query = '') =>
      () =>
        Array.from({ length: 1000 }, (_, n) => stack.guest.send('GET', `${paths[n % paths.length]}${query}`, more));
    const [client = assert.fail()] = clients;
    const usual = await duringReads(client, thousand({}, '&consistency=eventual'));
    const behind = await readsOf(replicated, 'behind');
    const waiting = await duringReads(client, thousand(after));
    assert.ok((await readsOf(replicated, 'behind')) - behind >= 1000, 'all of them wait');
    assert.ok(waiting.answers.every(({ status }) => status === 200));
    const about = ({ othersMs }: OthersDuring) =>
      `median ${Math.round(othersMs[othersMs.length >> 1] ?? 0)} ms, at most ${Math.round(othersMs.at(-1) ?? 0)} ms`;
    t.diagnostic(`others during reads that do not wait: ${about(usual)}; that wait: ${about(waiting)}`);
    assert.ok((waiting.othersMs.at(-1) ?? 0) < 3 * (usual.othersMs.at(-1) ?? 0) + 1000);
  });

  await t.test('another gateway receives the state of a write', async () => {
    await admin.patch(path, { value: 3 });
    const elsewhere = createClient(
      other.url,
      textAt(await other.guest.post('/api/v1/admin/login', firstAdmin, 200), 'token'),
    );
    await eventually('it reads the write', async () => valueAt((await elsewhere.get(path)).json) === 3, {
      timeoutMs: 2000,
    });
  });

  await t.test('a changed collection is read with its new fields and rules at once', async () => {
    await admin.patch(`/api/v1/collections/${collection}`, {
      fields: [...definition.fields, { name: 'more', type: 'text' }],
      view_rule: '',
    });
    assert.equal((await stack.guest.get(path)).status, 403);
    assert.equal(at((await admin.get(`${path}?consistency=eventual`)).json, 'data.more'), null);
  });

  await t.test('a rule about the account of the caller reads the primary', async () => {
    await admin.patch('/api/v1/collections/people', { fields: [{ name: 'name', type: 'text' }] });
    await admin.patch(`/api/v1/collections/${collection}`, { view_rule: '@request.auth.name = "Uma"' });
    const caller = createClient(stack.url, token);
    const { id: own } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    await admin.patch(`/api/v1/people/${own}`, { name: 'Uma' });
    assert.equal((await caller.get(path)).status, 200);
    await admin.patch(`/api/v1/people/${own}`, { name: 'Ann' });
    assert.equal((await caller.get(path)).status, 403);
  });
});

test('reads continue while the read replica hangs, and after a failover to it', async (t) => {
  await using replicated = await startReplicated('one');
  const { pair, stack, admin } = replicated;
  const { id } = await admin.create(collection, { value: 1 });
  const path = `/api/v1/${collection}/${id}`;
  const replicaServes = async (): Promise<void> => {
    const before = await readsOf(replicated, 'replica');
    await eventually('the replica serves reads', async () => {
      assert.equal((await stack.guest.get(path)).status, 200);
      return (await readsOf(replicated, 'replica')) > before;
    });
  };
  await level(replicated);
  await replicaServes();

  pair.freezeStandby(true);
  let slowestMs = 0;
  for (let read = 0; read < 20; read += 1) {
    const startedAtMs = performance.now();
    assert.equal((await stack.guest.get(path)).status, 200);
    slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
  }
  t.diagnostic(`the slowest read took ${Math.round(slowestMs)} ms`);
  assert.ok(slowestMs < 3000);
  assert.match((await admin.get('/readyz')).text, /the read replica 127\.0\.0\.1:\d+ is not used/);
  pair.freezeStandby(false);
  await replicaServes();

  await pair.killPrimary();
  await pair.promote();
  await eventually(
    'a write succeeds',
    async () => (await admin.send('PATCH', path, { body: { value: 2 } })).status === 200,
    {
      timeoutMs: 15_000,
    },
  );
  assert.equal(valueAt((await admin.get(path)).json), 2);
  assert.equal(valueAt((await stack.guest.get(path)).json), 2, 'the server that became the primary is no replica');
});
