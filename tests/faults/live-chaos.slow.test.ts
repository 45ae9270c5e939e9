import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, listAt } from '../harness/json.ts';
import { type LiveList, openLiveList } from '../harness/live-list.ts';
import { startStack } from '../harness/stack.ts';
import { createNotes, join } from '../scenarios/realtime/notes.ts';

/** The test runs this long; `npm run test:chaos` makes it an hour, with more of everything. */
const seconds = Number(process.env.CHAOS_SECONDS ?? 180);
const writerCount = Number(process.env.CHAOS_WRITERS ?? 8);
const clientCount = Number(process.env.CHAOS_CLIENTS ?? 40);
/** Each writer keeps at most as many records, so that a list has them all on a page. */
const recordsPerWriter = 20;
const longestPauseMs = 4000;

test('live lists are right after an hour of faults, or three minutes [realtime §4.2]', {
  timeout: (seconds + 240) * 1000,
}, async (t) => {
  await using stack = await startStack({ topology: 'processes' });
  const admin = await stack.admin();
  await admin.patch('/api/v1/admin/settings', {
    'realtime.max_connections_per_address': '1000',
    'rate_limit.enabled': '0',
  });
  await createNotes(stack);
  const people = await Promise.all(['ada', 'bob', 'cyn'].map((name) => join(stack, name)));
  const lists: { readonly list: LiveList; readonly path: string; readonly client: Client }[] = [];
  for (let n = 0; n < clientCount; n += 1) {
    const person = people[n % (people.length + 1)];
    const collection = n % 2 === 0 ? 'notes' : 'tasks';
    const list = openLiveList({ url: stack.url, collection, token: person?.token });
    lists.push({ list, path: `/api/v1/${collection}?perPage=1000`, client: person?.client ?? stack.guest });
  }

  const random = (limit: number) => Math.floor(Math.random() * limit);
  const written = { ok: 0, failed: 0 };
  const untilMs = performance.now() + seconds * 1000;
  const isOver = () => performance.now() >= untilMs;

  /** Writes at random; a write whose answer is lost may have happened. */
  async function write(): Promise<void> {
    const ids: string[] = [];
    const collection = random(2) === 0 ? 'notes' : 'tasks';
    const body = () =>
      collection === 'notes'
        ? { text: `n${random(1e6)}`, rank: random(100) }
        : { title: `t${random(1e6)}`, owner: people[random(people.length)]?.id };
    while (!isOver()) {
      const id = ids[random(ids.length)];
      const kind =
        ids.length < recordsPerWriter / 2 || !id
          ? 'POST'
          : ids.length >= recordsPerWriter
            ? 'DELETE'
            : ['PATCH', 'PATCH', 'POST', 'DELETE'][random(4)];
      try {
        if (kind === 'POST' || !id) {
          const answer = await admin.send('POST', `/api/v1/${collection}`, { body: body() });
          if (answer.status === 201) ids.push(String((answer.json as { data: JsonObject }).data.id));
          count(answer.status);
        } else if (kind === 'PATCH')
          count((await admin.send('PATCH', `/api/v1/${collection}/${id}`, { body: body() })).status);
        else {
          count((await admin.send('DELETE', `/api/v1/${collection}/${id}`)).status);
          ids.splice(ids.indexOf(id), 1);
        }
      } catch {
        written.failed += 1;
        await wait(50);
      }
    }
  }
  const count = (status: number) => {
    if (status < 300) written.ok += 1;
    else written.failed += 1;
  };

  const faults: Readonly<Record<string, () => Promise<void>>> = {
    gateway: () => kill('gateway'),
    realtime: () => kill('realtime'),
    records: () => kill('records'),
    async bus() {
      await stack.ground.bus.kill();
      await wait(random(longestPauseMs));
      await stack.ground.bus.start();
    },
    async network() {
      for (const { list } of lists) if (random(2) === 0) list.cut(random(longestPauseMs));
    },
  };
  const happened = new Map<string, number>();
  async function kill(name: 'gateway' | 'realtime' | 'records'): Promise<void> {
    const { pid } = stack.services[name] ?? {};
    if (pid === undefined) return;
    process.kill(pid, 'SIGKILL');
    await eventually(`${name} runs again`, () => stack.services[name]?.pid !== pid, { timeoutMs: 60_000 });
  }
  async function breakThings(): Promise<void> {
    const names = Object.keys(faults);
    for (let n = 0; !isOver(); n += 1) {
      const name = names[n % names.length] ?? '';
      await faults[name]?.();
      happened.set(name, (happened.get(name) ?? 0) + 1);
      await wait(random(longestPauseMs));
    }
  }

  await Promise.all([breakThings(), ...Array.from({ length: writerCount }, write)]);
  t.diagnostic(`writes ${JSON.stringify(written)}, faults ${JSON.stringify(Object.fromEntries(happened))}`);
  await eventually('the product answers', async () => (await stack.guest.get('/readyz')).status === 200, {
    timeoutMs: 60_000,
  });
  for (const { list, path, client } of lists) {
    await eventually(
      `a list is right: ${path}`,
      async () => {
        const fresh = listAt((await client.get(path)).json, 'data') as JsonObject[];
        assert.deepEqual(sorted(list.records.values()), sorted(fresh));
        return true;
      },
      { timeoutMs: 60_000, intervalMs: 200 },
    );
    assert.deepEqual(list.faults, []);
  }
  const sums = lists.reduce(
    (sum, { list: { counts } }) => ({
      connects: sum.connects + counts.connects,
      resyncs: sum.resyncs + counts.resyncs,
      messages: sum.messages + counts.messages,
      repeated: sum.repeated + counts.repeated,
    }),
    { connects: 0, resyncs: 0, messages: 0, repeated: 0 },
  );
  t.diagnostic(`clients ${JSON.stringify(sums)}`);
  for (const { list } of lists) await list.stop();
});

const sorted = (records: Iterable<JsonObject>) => [...records].sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
