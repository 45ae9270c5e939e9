import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createClient, RecordbusError, type Session, type SessionStore } from '@recordbus/client';
import { eventually } from '../harness/eventually.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { createUsers, password } from '../scenarios/users.ts';

const windowSec = 60;
const offClockMs = 600_000;

/** A store that several clients share, as `localStorage` is shared by tabs. */
function sharedStore(name?: string): SessionStore & { session: Session | undefined } {
  return {
    ...(name !== undefined && { name }),
    session: undefined,
    get() {
      return this.session;
    },
    set(session) {
      this.session = session;
    },
  };
}

/** How late a tab sees what another one has written, in milliseconds. */
const lagMs = 100;

/** Two tabs' stores in a busy browser: each sees its own writes at once, and the other's later. */
function laggingStores(name: string): [SessionStore, SessionStore] {
  const seen: (Session | undefined)[] = [undefined, undefined];
  const storeOf = (own: number, other: number): SessionStore => ({
    name,
    get: () => seen[own],
    set(session) {
      seen[own] = session;
      setTimeout(() => {
        seen[other] = session;
      }, lagMs);
    },
  });
  return [storeOf(0, 1), storeOf(1, 0)];
}

/** A `fetch` that records the requests' paths. */
function recordingFetch(): { readonly paths: string[]; readonly fetch: typeof fetch } {
  const paths: string[] = [];
  return {
    paths,
    fetch: (input, init) => {
      paths.push(new URL(String(input)).pathname);
      return fetch(input, init);
    },
  };
}

const refreshes = (paths: readonly string[]): number => paths.filter((path) => path.endsWith('/auth/refresh')).length;

/** Sets this process's clock, not the stack's. */
function setClock(t: TestContext, offsetMs: number): void {
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + offsetMs });
}

onEachTopology('a session is refreshed before it ends', async (t, target) => {
  const admin = await target.admin();
  const users = await createUsers(target);
  const settings = { 'auth.user.window_seconds': windowSec, 'auth.refresh.window_seconds': windowSec };
  await admin.patch(
    '/api/v1/admin/settings',
    Object.fromEntries(Object.entries(settings).map(([k, v]) => [k, String(v)])),
  );

  for (const [name, offset] of [
    ['right', 0],
    ['fast', offClockMs],
    ['slow', -offClockMs],
  ] as const) {
    await t.test(`with a clock that is ${name}`, async (t) => {
      const { paths, fetch } = recordingFetch();
      const client = createClient(target.url, { fetch });
      setClock(t, offset);
      await client.auth(users).register({ email: `${name}@example.com`, password });
      const mine = () => client.auth(users).sessions.list();
      await mine();
      assert.equal(refreshes(paths), 0);
      setClock(t, offset + (windowSec / 2 + 1) * 1000);
      await Promise.all([mine(), mine(), mine()]);
      assert.equal(refreshes(paths), 1);
      await mine();
      assert.equal(refreshes(paths), 1);
    });
  }

  await t.test('once for all tabs, and tabs follow sign-ins and sign-outs', async (t) => {
    const store = sharedStore(`tabs of ${target.url}`);
    const [first, second] = [recordingFetch(), recordingFetch()];
    const tabs = [first, second].map(({ fetch }) => createClient(target.url, { fetch, store }));
    const [one, two] = tabs;
    assert.ok(one && two);
    const seen: (string | undefined)[] = [];
    two.session.onChange((session) => seen.push(session?.token));
    await one.auth(users).register({ email: 'tabs@example.com', password });
    await eventually('the other tab follows the sign-in', () => seen.length === 1);
    setClock(t, (windowSec / 2 + 1) * 1000);
    await Promise.all(tabs.flatMap((tab) => [tab.auth(users).sessions.list(), tab.auth(users).sessions.list()]));
    assert.equal(refreshes([...first.paths, ...second.paths]), 1);
    await one.auth(users).logout();
    await eventually('the other tab follows the sign-out', () => seen.length > 1 && seen.at(-1) === undefined);
    assert.equal(await two.session.current(), undefined);
  });

  await t.test('once for all tabs, even if they see its token late', async (t) => {
    const stores = laggingStores(`late tabs of ${target.url}`);
    const [first, second] = [recordingFetch(), recordingFetch()];
    const one = createClient(target.url, { fetch: first.fetch, store: stores[0] });
    const two = createClient(target.url, { fetch: second.fetch, store: stores[1] });
    await one.auth(users).register({ email: 'late@example.com', password });
    await eventually('the other tab sees the sign-in', async () => (await two.session.current()) !== undefined);
    setClock(t, (windowSec / 2 + 1) * 1000);
    const list = (tab: typeof one) => tab.auth(users).sessions.list();
    await Promise.all([list(one), list(two)]);
    assert.equal(refreshes([...first.paths, ...second.paths]), 1);
    setClock(t, (windowSec + 2) * 1000);
    await list(one);
    await list(two);
    assert.equal(refreshes([...first.paths, ...second.paths]), 2);
  });

  await t.test('by another tab, if the one that tried it first fails', async (t) => {
    const stores = laggingStores(`failing tabs of ${target.url}`);
    const offline: typeof fetch = (input, init) =>
      String(input).endsWith('/auth/refresh') ? Promise.reject(new TypeError('no network')) : fetch(input, init);
    const second = recordingFetch();
    const one = createClient(target.url, { fetch: offline, store: stores[0] });
    const two = createClient(target.url, { fetch: second.fetch, store: stores[1] });
    await one.auth(users).register({ email: 'failing@example.com', password });
    await eventually('the other tab sees the sign-in', async () => (await two.session.current()) !== undefined);
    setClock(t, (windowSec / 2 + 1) * 1000);
    await Promise.all([one.auth(users).sessions.list(), two.auth(users).sessions.list()]);
    assert.equal(refreshes(second.paths), 1);
  });

  await t.test('and kept while the server cannot be reached', async (t) => {
    const store = sharedStore();
    await createClient(target.url, { store }).auth(users).register({ email: 'away@example.com', password });
    const token = store.session?.token;
    const client = createClient(target.url, {
      store,
      fetch: (input, init) =>
        String(input).endsWith('/auth/refresh') ? Promise.reject(new TypeError('no network')) : fetch(input, init),
    });
    setClock(t, (windowSec / 2 + 1) * 1000);
    assert.equal((await client.auth(users).sessions.list()).length, 1);
    assert.equal(store.session?.token, token);
  });

  await t.test('and forgotten when it is over', async (t) => {
    const client = createClient(target.url);
    const { record } = await client
      .auth(users)
      .register({ email: 'over@example.com', password })
      .then((signIn) => {
        assert.equal(signIn.state, 'signed_in');
        return signIn as Extract<typeof signIn, { state: 'signed_in' }>;
      });
    const seen: unknown[] = [];
    client.session.onChange((session) => seen.push(session));
    await admin.delete(`/api/v1/${users}/${record.id}`);
    setClock(t, (windowSec / 2 + 1) * 1000);
    const refused = await client
      .from(users)
      .list()
      .catch((error: unknown) => error);
    assert.ok(refused instanceof RecordbusError);
    assert.equal(refused.status, 401);
    assert.deepEqual(seen, [undefined]);
    assert.equal(await client.session.current(), undefined);
  });
});
