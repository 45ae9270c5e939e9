import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Client } from '../harness/clients/client.ts';
import { type LiveMessage, openLive } from '../harness/clients/live-client.ts';
import { compareVersions } from '../harness/clients/live-list.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, textAt } from '../harness/json.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';
import { topologiesOrInCi } from '../harness/stacks/target.ts';
import { random } from './live-chaos/random.ts';

/** How often the schema changes and changes back, and how many writes there are meanwhile, on each topology. */
const rounds = 4;
const writeCount = 400;
/** How long this takes at least. */
const seconds = Number(process.env.CHAOS_SECONDS ?? 0);
const writerCount = 4;
const readerCount = 3;
const names = ['moving', 'roaming'] as const;

for (const topology of topologiesOrInCi('processes'))
  test(`${topology}: schema changes hide no version from live readers [realtime §3.2]`, async (t) => {
    await using ground = await createGround();
    await using stack = await startStack({ topology, ground });
    const admin = await stack.admin();
    await admin.patch('/api/v1/admin/settings', { 'rate_limit.enabled': '0' });
    const { id } = await admin.post('/api/v1/collections', {
      name: names[0],
      type: 'base',
      history_enabled: true,
      list_rule: null,
      view_rule: null,
      fields: [
        { name: 'n', type: 'number' },
        { name: 'code', type: 'text' },
        { name: 'text', type: 'text', options: { default: 't' } },
      ],
    });
    const path = `/api/v1/collections/${id}`;
    let isOver = false;
    // Before the stack stops, even after a failure.
    using ending = new DisposableStack();
    ending.defer(() => {
      isOver = true;
    });
    const readers = Array.from({ length: readerCount }, () => read(stack.url, () => isOver));
    await Promise.all(readers.map(({ isReady }) => isReady));
    const untilMs = performance.now() + seconds * 1000;
    const done = { rounds: 0, changes: 0, writes: 0 };
    const isDone = () => done.rounds >= rounds && done.writes >= writeCount && performance.now() >= untilMs;
    await Promise.all([
      changeSchema(admin, path, done, isDone),
      ...Array.from({ length: writerCount }, () => writeRecords(admin, done, isDone)),
    ]);

    // A resync may stand in for a record, so one is written until each reader has one.
    const lastIds = new Set<unknown>();
    const isCurrent = async () => {
      const last = await inCollection((name) => admin.send('POST', `/api/v1/${name}`, { body: { n: 0, code: 's0' } }));
      lastIds.add(textAt(last.json, 'data.id'));
      return readers.every(({ messages }) => messages().some(({ data }) => lastIds.has(at(data, 'record.id'))));
    };
    const failures = readers.map(({ ended }) => ended.then(() => assert.ok(isOver, 'a reader ended')));
    await Promise.race([eventually('every reader has a record from the end', isCurrent), ...failures]);
    isOver = true;
    const written = await readHistory(ground.databaseUrl, String(id), await fieldIdOf(admin, path));
    for (const reader of readers) {
      await reader.ended;
      compare(reader.messages(), written);
    }
    const count = [...written.values()].reduce((sum, versions) => sum + versions.size, 0);
    const told = readers.map(({ messages }) => [
      messages().length,
      messages().filter(({ type }) => type === 'resync').length,
    ]);
    t.diagnostic(
      `${count} versions, ${done.changes} changes; messages and resyncs of the readers: ${JSON.stringify(told)}`,
    );
    // A round has six changes, one of which may be refused.
    assert.ok(done.changes >= rounds * 5 && count > 100, 'something happened');
  });

/** What has happened so far. */
interface Done {
  rounds: number;
  changes: number;
  writes: number;
}

/** Runs a request under the collection's current name. */
async function inCollection<T extends { readonly status: number }>(send: (name: string) => Promise<T>): Promise<T> {
  for (;;)
    for (const name of names) {
      const answer = await send(name);
      if (answer.status !== 404) return answer;
    }
}

/** Adds and drops a field, renames one, encrypts one, and changes the collection's rule and name. */
async function changeSchema(admin: Client, path: string, done: Done, isDone: () => boolean): Promise<void> {
  for (let round = 0; !isDone(); round += 1) {
    const isOdd = round % 2 === 1;
    const [former, next] = isOdd ? ['label', 'text'] : ['text', 'label'];
    const steps = [
      () => admin.send('POST', `${path}/fields`, { body: { name: `added_${round}`, type: 'number' } }),
      () => admin.send('PATCH', `${path}/fields/${former}`, { body: { name: next } }),
      () => admin.send('PATCH', `${path}/fields/code`, { body: { options: { encrypted: !isOdd } } }),
      () => admin.send('PATCH', path, { body: { list_rule: isOdd ? null : 'n >= 0', view_rule: null } }),
      () => admin.send('PATCH', path, { body: { name: names[isOdd ? 0 : 1] } }),
      () => admin.send('DELETE', `${path}/fields/added_${round}`),
    ];
    for (const step of steps) {
      const { status, text } = await step();
      // A value that is written at the same moment may keep a field from being decrypted.
      assert.ok(status < 300 || /options\.encrypted/.test(text), text);
      if (status < 300) done.changes += 1;
      await wait(random(150));
    }
    done.rounds += 1;
  }
}

/** Creates, changes and deletes records. Every write gives `code` the same value as `n`. */
async function writeRecords(admin: Client, done: Done, isDone: () => boolean): Promise<void> {
  const ids: string[] = [];
  const write: typeof inCollection = (send) => {
    done.writes += 1;
    return inCollection(send);
  };
  while (!isDone()) {
    const n = random(1e6);
    const body = { n, code: `s${n}` };
    const kind = ids.length < 3 ? 'create' : ids.length > 12 ? 'delete' : 'update';
    const id = ids[random(ids.length)];
    if (kind === 'create') {
      const { json } = await write((name) => admin.send('POST', `/api/v1/${name}`, { body }));
      ids.push(textAt(json, 'data.id'));
    } else if (kind === 'update')
      for (let left = random(4); left >= 0; left -= 1)
        await write((name) => admin.send('PATCH', `/api/v1/${name}/${id}`, { body }));
    else {
      await write((name) => admin.send('DELETE', `/api/v1/${name}/${id}`));
      ids.splice(ids.indexOf(String(id)), 1);
    }
    if (kind === 'update' && random(3) === 0) {
      const { json } = await write((name) => admin.send('POST', `/api/v1/${name}`, { body }));
      ids.push(textAt(json, 'data.id'));
    }
  }
}

/** Follows the collection from now on, and reconnects with its cursor under the other name when it is renamed. */
function read(url: string, isOver: () => boolean) {
  const messages: LiveMessage[] = [];
  let current: readonly LiveMessage[] = [];
  const ready = Promise.withResolvers<void>();
  const follow = async () => {
    let after: string | undefined;
    for (let turn = 0; !isOver(); turn += 1) {
      await using live = await openLive(url, [{ collection: names[turn % 2], after }]);
      if (live.status !== 200) continue;
      current = live.messages;
      await live.arrived('ready');
      ready.resolve();
      while (!isOver() && !live.isClosed && !live.messages.some(({ type }) => type === 'error')) await wait(20);
      after = live.lastEventId ?? after;
      messages.push(...live.messages);
      current = [];
    }
  };
  return {
    messages: () => [...messages, ...current],
    isReady: ready.promise,
    ended: follow().catch((error: unknown) => assert.ok(isOver(), String(error))),
  };
}

/** The value that `n` has in each version of each record; undefined for a delete. */
type Written = ReadonlyMap<string, ReadonlyMap<string, string | undefined>>;

async function fieldIdOf(admin: Client, path: string): Promise<string> {
  const fields: readonly { name: string; id: string }[] = JSON.parse(
    textAt((await admin.get(path)).json, 'data.fields'),
  );
  return fields.find(({ name }) => name === 'n')?.id ?? assert.fail('there is no field n');
}

async function readHistory(databaseUrl: string, collection: string, field: string): Promise<Written> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; version: string; n: string | null; op: string }>(
      `select record_id as id, at || case _revision when 0 then '' else '.' || _revision end as version,
         snapshot ->> '${field}' as n, op from history."${collection}"`,
    );
    const written = new Map<string, Map<string, string | undefined>>();
    for (const { id, version, n, op } of rows)
      written.set(id, (written.get(id) ?? new Map()).set(version, op === 'delete' ? undefined : String(n)));
    return written;
  } finally {
    await client.end();
  }
}

/**
 * Checks that each version came in order and with its values, and that a `resync` stands in for each one that did not
 * come.
 */
function compare(messages: readonly LiveMessage[], written: Written): void {
  const seen = new Map<string, { version: string; resyncs: number }>();
  let resyncs = 0;
  const missing = (id: string, after: string, until: string | undefined) =>
    [...(written.get(id)?.keys() ?? [])].filter(
      (one) =>
        (after === '' || compareVersions(one, after) > 0) && (until === undefined || compareVersions(one, until) < 0),
    );
  for (const { type, data } of messages) {
    if (type === 'resync') resyncs += 1;
    const version = data.version === undefined ? undefined : String(data.version);
    if (version === undefined) continue;
    const id = String(at(data, 'record.id') ?? data.id);
    const before = seen.get(id) ?? { version: '', resyncs: 0 };
    // After a reconnect, a change may come again.
    if (before.version !== '' && compareVersions(version, before.version) <= 0) continue;
    assert.ok(written.get(id)?.has(version), `${id} has no version ${version}`);
    if (resyncs === before.resyncs)
      assert.deepEqual(missing(id, before.version, version), [], `${id} was skipped before ${version}`);
    checkValues(type, data, written.get(id)?.get(version));
    seen.set(id, { version, resyncs });
  }
  for (const id of written.keys()) {
    const last = seen.get(id) ?? { version: '', resyncs: 0 };
    if (resyncs === last.resyncs) assert.deepEqual(missing(id, last.version, undefined), [], `the end of ${id}`);
  }
}

function checkValues(type: string, data: JsonObject, n: string | undefined): void {
  if (n === undefined) {
    assert.equal(type, 'delete');
    return;
  }
  assert.ok(['create', 'update', 'enter'].includes(type), `${type} instead of a change`);
  const record = at(data, 'record') as JsonObject;
  assert.deepEqual([record.n, record.code, record.text ?? record.label], [Number(n), `s${n}`, 't']);
}
