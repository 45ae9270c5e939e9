import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../harness/clients/client.ts';
import { type LiveList, openLiveList } from '../harness/clients/live-list.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, listAt } from '../harness/json.ts';
import { startStack } from '../harness/stacks/stack.ts';
import { createNotes, join } from '../scenarios/realtime/notes.ts';
import { breakAtRandom } from './live-chaos/break-at-random.ts';
import { random } from './live-chaos/random.ts';
import { secondReplicaOf } from './live-chaos/second-replica.ts';
import { writeAtRandom } from './live-chaos/write-at-random.ts';

/** How long faults happen, at least one of each. `npm run test:chaos` makes it an hour, with more of everything. */
const seconds = Number(process.env.CHAOS_SECONDS ?? 0);
const writerCount = Number(process.env.CHAOS_WRITERS ?? 4);
const clientCount = Number(process.env.CHAOS_CLIENTS ?? 24);
/** How many records a page and a list's snapshot may have. */
const pageSize = 1000;
const longestCutMs = Number(process.env.CHAOS_LONGEST_CUT_SECONDS ?? 10) * 1000;

interface Follower {
  readonly list: LiveList;
  readonly path: string;
  readonly client: Client;
}

test('live lists are correct after faults of every kind, or after an hour of them [realtime §4.2]', {
  // At the end all lists are compared, which takes a while on a busy machine.
  timeout: (seconds + 600 + clientCount * 5) * 1000,
}, async (t) => {
  await using stack = await startStack({ topology: 'processes' });
  await using connections = new AsyncDisposableStack();
  await using replica = secondReplicaOf(stack);
  const admin = await stack.admin();
  await admin.patch('/api/v1/admin/settings', {
    'realtime.max_connections_per_address': '1000',
    'realtime.max_connections_per_principal': '1000',
    'rate_limit.enabled': '0',
  });
  await createNotes(stack);
  const people = await Promise.all(['ada', 'bob', 'cyn'].map((name) => join(stack, name)));
  const followers = Array.from({ length: clientCount }, (_, n): Follower => {
    const person = people[n % (people.length + 1)];
    const collection = n % 2 === 0 ? 'notes' : 'tasks';
    const urlOf = () => replica.urls[random(replica.urls.length)] ?? stack.url;
    const list = connections.use(openLiveList({ urlOf, collection, token: person?.token }));
    return { list, path: `/api/v1/${collection}?perPage=${pageSize}`, client: person?.client ?? stack.guest };
  });
  const lists = followers.map(({ list }) => list);

  const written = { ok: 0, failed: 0 };
  const untilMs = performance.now() + seconds * 1000;
  let areFaultsOver = false;
  const isOver = () => areFaultsOver;
  const owners = people.map(({ id }) => id);
  const breaking = breakAtRandom({ stack, replica, lists, longestCutMs, isOver: () => performance.now() >= untilMs });
  const [faults] = await Promise.all([
    breaking.finally(() => {
      areFaultsOver = true;
    }),
    ...Array.from({ length: writerCount }, () => writeAtRandom({ client: admin, owners, isOver, written })),
  ]);
  t.diagnostic(`writes ${JSON.stringify(written)}, faults ${JSON.stringify(faults)}`);
  await eventually('the product answers', async () => (await stack.guest.get('/readyz')).status === 200);
  for (const follower of followers) await becomesRight(follower);
  t.diagnostic(`clients ${JSON.stringify(sumOf(lists))}`);
});

/** Waits until a list equals a fresh one, even if its client was just cut off. */
async function becomesRight({ list, path, client }: Follower): Promise<void> {
  await eventually(
    `a list is right: ${path}`,
    async () => {
      const fresh = listAt((await client.get(path)).json, 'data') as JsonObject[];
      assert.ok(fresh.length < pageSize, 'a page has all records');
      assert.deepEqual(sorted(list.records.values()), sorted(fresh));
      return true;
    },
    { timeoutMs: longestCutMs + 60_000, intervalMs: 200 },
  );
  assert.deepEqual(list.faults, []);
}

const sorted = (records: Iterable<JsonObject>) => [...records].sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));

const sumOf = (lists: readonly LiveList[]) =>
  Object.fromEntries(
    (['connects', 'resyncs', 'messages', 'repeated'] as const).map((name) => [
      name,
      lists.reduce((sum, { counts }) => sum + counts[name], 0),
    ]),
  );
