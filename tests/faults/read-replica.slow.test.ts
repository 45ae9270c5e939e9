import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { firstAdmin, type Stack } from '../harness/stacks/stack.ts';
import { readOwnWrites, valueAt } from './own-writes.ts';
import { collection, definition, delay, level, readsOf, startReplicated, whileBehind } from './replicated-stack.ts';

/** How many writes a caller makes that reads its own writes, and how many callers there are. */
const rounds = Number(process.env.TEST_REPLICA_ROUNDS ?? 12);
const writers = Number(process.env.TEST_REPLICA_WRITERS ?? 5);
/** How long the replica waits before it applies a commit, in milliseconds. Reads wait up to 50 ms for it. */
const delays = [0, 20, 60, 400] as const;

interface OthersDuring {
  readonly answers: readonly Answer[];
  /** The longest of the other requests meanwhile, in milliseconds. */
  readonly longestMs: number;
}

/**
 * Sends one client's gets and lists, all at once, and meanwhile another client's gets and writes, one after the other.
 */
async function duringReads(other: Client, sending: () => Promise<Answer>[]): Promise<OthersDuring> {
  const { id } = await other.create(collection, { value: 0 });
  let isOver = false;
  const reads = Promise.all(sending()).finally(() => {
    isOver = true;
  });
  let longestMs = 0;
  for (let value = 1; !isOver; value += 1)
    for (const [method, body] of [['GET'], ['PATCH', { value }]] as const) {
      const startedAtMs = performance.now();
      const { status } = await other.send(method, `/api/v1/${collection}/${id}`, { body });
      assert.equal(status, 200);
      longestMs = Math.max(longestMs, performance.now() - startedAtMs);
    }
  return { answers: await reads, longestMs };
}

const signUp = async (stack: Stack, name: string): Promise<string> =>
  textAt(
    await stack.guest.post('/api/v1/auth/people/register', {
      email: `${name}@example.com`,
      password: firstAdmin.password,
    }),
    'token',
  );

test('every caller reads its own writes, however far the read replica lags', async (t) => {
  await using replicated = await startReplicated('processes');
  const { stack, other, admin } = replicated;
  const names = Array.from({ length: writers }, (_, index) => `writer${index}`);
  const tokens = await Promise.all(names.map((name) => signUp(stack, name)));
  const own = { collection, url: stack.url, otherUrl: other.url, rounds };
  for (const delayMs of delays) {
    await delay(replicated, `${delayMs}ms`);
    const before = await readsOf(replicated, 'replica');
    // A few writers are enough to keep the machine busy for so long.
    const readers = delayMs >= 400 ? tokens.slice(0, Math.ceil(writers / 2)) : tokens;
    const { reads, early, stale, refused } = await readOwnWrites({ ...own, tokens: readers, delayMs });
    const onReplica = (await readsOf(replicated, 'replica')) - before;
    t.diagnostic(
      `delay ${delayMs} ms: ${reads} reads, ${early} of them too early for the replica, ${stale} stale, ${refused} refused; the first gateway's ran ${onReplica} times on the replica`,
    );
    assert.equal(stale, 0, `${stale} of ${reads} reads missed the caller's write, with a delay of ${delayMs} ms`);
    if (delayMs === 0) assert.ok(onReplica > 0, 'the replica serves reads');
  }
  assert.ok((await readsOf(replicated, 'behind')) > 0, 'the primary serves what the replica lacks');

  await delay(replicated, '0');
  const created = async () => `/api/v1/${collection}/${(await admin.create(collection, { value: 1 })).id}`;
  const [token = ''] = tokens;

  await t.test(
    'a caller who has not written may get an older state, and a caller who accepts an older state gets it',
    () =>
      whileBehind(replicated, async () => {
        const path = await created();
        assert.equal((await stack.guest.get(path)).status, 404);
        assert.equal((await admin.get(path)).status, 200);
        assert.equal((await admin.get(`${path}?consistency=eventual`)).status, 404);
        assert.equal((await admin.get(`${path}?consistency=strong`)).status, 400);
      }),
  );

  await t.test('a new user sees the account at once', () =>
    whileBehind(replicated, async () => {
      const body = { email: 'new@example.com', password: firstAdmin.password };
      const session = await stack.guest.post('/api/v1/auth/people/register', body);
      const caller = createClient(stack.url, textAt(session, 'token'));
      assert.equal((await caller.get(`/api/v1/people/${textAt(session, 'record.id')}`)).status, 200);
    }),
  );

  await t.test("a write's header gives any caller its state at any gateway", () =>
    whileBehind(replicated, async () => {
      const path = await created();
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
    }),
  );

  await t.test('a thousand reads that wait for the replica at once do not delay other requests', async (t) => {
    const path = await created();
    const paths = [`${path}?fields=value`, `/api/v1/${collection}?skipTotal=1`];
    const thousand =
      (more: object, query = '') =>
      () =>
        Array.from({ length: 1000 }, (_, n) => stack.guest.send('GET', `${paths[n % paths.length]}${query}`, more));
    const client = createClient(stack.url, token);
    const isDelayed = async (): Promise<boolean> => {
      const usual = await duringReads(client, thousand({}, '&consistency=eventual'));
      const waiting = await whileBehind(replicated, async () => {
        const { headers } = await admin.send('PATCH', path, { body: { value: 2 } });
        const after = { headers: { 'X-Service-Consistency': String(headers['x-service-consistency']) } };
        const before = await readsOf(replicated, 'behind');
        const during = await duringReads(client, thousand(after));
        assert.ok((await readsOf(replicated, 'behind')) - before >= 1000, 'all of them wait');
        return during;
      });
      assert.ok(waiting.answers.every(({ status }) => status === 200));
      const [usualMs, waitingMs] = [usual.longestMs, waiting.longestMs].map(Math.round);
      t.diagnostic(
        `others take at most ${usualMs} ms during reads that do not wait, ${waitingMs} ms during those that do`,
      );
      return waiting.longestMs > 3 * usual.longestMs + 1000;
    };
    // The machine may be busier during the one than during the other, but not each time.
    for (let attempt = 1; await isDelayed(); attempt += 1) assert.ok(attempt < 4, 'they delay others each time');
  });

  await t.test("another gateway receives a write's state", () =>
    whileBehind(replicated, async () => {
      const path = await created();
      const session = await other.guest.post('/api/v1/admin/login', firstAdmin, 200);
      const elsewhere = createClient(other.url, textAt(session, 'token'));
      await admin.patch(path, { value: 3 });
      await eventually('it reads the write', async () => valueAt((await elsewhere.get(path)).json) === 3);
    }),
  );

  await t.test('a changed collection is read with its new fields and rules, however far the replica lags', () =>
    whileBehind(replicated, async () => {
      const path = await created();
      await admin.patch(`/api/v1/collections/${collection}`, {
        fields: [...definition.fields, { name: 'more', type: 'text' }],
        view_rule: '',
      });
      // Another process has changed the collection (collections §9.2).
      await eventually('the rule refuses guests', async () => (await stack.guest.get(path)).status === 403);
      assert.equal(at((await admin.get(`${path}?consistency=eventual`)).json, 'data.more'), null);
    }),
  );

  await t.test("a rule about the caller's account reads the primary", async () => {
    await admin.patch('/api/v1/collections/people', { fields: [{ name: 'name', type: 'text' }] });
    await admin.patch(`/api/v1/collections/${collection}`, { view_rule: '@request.auth.name = "Uma"' });
    const path = await created();
    const caller = createClient(stack.url, token);
    const { id: own } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    await whileBehind(replicated, async () => {
      await admin.patch(`/api/v1/people/${own}`, { name: 'Uma' });
      assert.equal((await caller.get(path)).status, 200);
      await admin.patch(`/api/v1/people/${own}`, { name: 'Ann' });
      assert.equal((await caller.get(path)).status, 403);
    });
  });
});

test('reads continue while the read replica hangs, and after a failover to it', async () => {
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
  // Reads that waited for the frozen standby would get no answer.
  for (let read = 0; read < 20; read += 1) assert.equal((await stack.guest.get(path)).status, 200);
  assert.match((await admin.get('/readyz')).text, /the read replica 127\.0\.0\.1:\d+ is not used/);
  pair.freezeStandby(false);
  await replicaServes();

  await pair.killPrimary();
  await pair.promote();
  await eventually(
    'a write succeeds',
    async () => (await admin.send('PATCH', path, { body: { value: 2 } })).status === 200,
  );
  assert.equal(valueAt((await admin.get(path)).json), 2);
  assert.equal(valueAt((await stack.guest.get(path)).json), 2, 'the server that became the primary is not a replica');
});
