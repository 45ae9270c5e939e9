import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { openLiveList } from '../harness/clients/live-list.ts';
import { eventsAreWhole, everyWriteIsThere, startSteadyWrites } from '../harness/clients/steady-writes.ts';
import { createWebhook } from '../harness/clients/webhook.ts';
import { everyRecordArrives } from '../harness/clients/write-burst.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt } from '../harness/json.ts';
import { type ClusterServer, type NatsCluster, startNatsCluster } from '../harness/servers/nats-cluster.ts';
import { receivedRecordIds, startReceiver } from '../harness/servers/receiver.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';

/**
 * Whether to run every fault on every server and on every pair, instead of only the worst fault on one and losing the
 * majority.
 */
const isThorough = process.env.TEST_FAULTS === 'all';

const collection = 'meters';
const patience = { timeoutMs: 120_000, intervalMs: 50 };

/** The server faults, and how each ends. */
const faults: Readonly<Record<string, { begin(server: ClusterServer): unknown; end(server: ClusterServer): unknown }>> =
  {
    killed: { begin: (server) => server.kill(), end: (server) => server.start() },
    frozen: { begin: (server) => server.freeze(), end: (server) => server.thaw() },
    'cut off': { begin: (server) => server.cutOff(), end: (server) => server.restore() },
  };

/** Returns the faults and the servers that they hit. The stream's leader is the server that matters most. */
async function casesOf({ servers, streamInfo }: NatsCluster): Promise<readonly [string, readonly ClusterServer[]][]> {
  const [one, two, three] = servers;
  if (!one || !two || !three) throw new Error('the cluster has fewer than three servers');
  const { cluster } = await streamInfo();
  const leader = servers.find(({ name }) => name === cluster?.leader) ?? one;
  if (!isThorough)
    return [
      ['frozen', [leader]],
      ['killed', [one, two]],
    ];
  const hit = [[one], [two], [three], [one, two], [two, three], [one, three]];
  return Object.keys(faults).flatMap((name) => hit.map((some): [string, readonly ClusterServer[]] => [name, some]));
}

test('while servers in a cluster of three fail, writes do not wait, and no event is lost or out of order', async (t) => {
  await using cluster = await startNatsCluster({ running: 2 });
  await using ground = await createGround(undefined, cluster.bus);
  await using stack = await startStack({ topology: 'one', ground });
  await using replica = await startStack({ topology: 'one', beside: ground });
  await using receiver = await startReceiver();
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', {
    name: collection,
    type: 'base',
    fields: [{ name: 'value', type: 'number' }],
  });
  await createWebhook(admin, receiver.url, [`${collection}.*`]);
  await using list = openLiveList({ urlOf: () => replica.url, collection });
  const { id: first } = await stack.guest.create(collection, { value: 0 });
  await eventually('the first event is delivered', () => receivedRecordIds(receiver).includes(first), patience);
  await eventually('the live list shows the first record', () => list.records.has(first), patience);
  const replicas = async () => (await cluster.streamInfo()).config.num_replicas;
  assert.equal(await replicas(), 1, 'two servers cannot hold three replicas');
  await cluster.servers[2]?.start();
  await eventually('the stream has three replicas', async () => (await replicas()) === 3, patience);
  await cluster.isWhole();

  await using writes = startSteadyWrites({ clients: [stack.guest, replica.guest], collection, paceMs: 100 });
  const moreWrites = async (count: number): Promise<void> => {
    const from = writes.succeeded;
    await eventually(`${count} writes`, () => writes.succeeded >= from + count, patience);
  };
  await moreWrites(50);

  async function endures(name: string, hit: readonly ClusterServer[]): Promise<void> {
    const { begin, end } = faults[name] ?? assert.fail(name);
    const fromMs = performance.now();
    await Promise.all(hit.map(begin));
    // Two in three servers are a majority, so events continue without the third.
    if (hit.length === 1) await isDelivered();
    await moreWrites(50);
    await Promise.all(hit.map(end));
    await isDelivered();
    t.diagnostic(
      `${hit.map((server) => server.name).join(' and ')} ${name}: events again after ${Math.round(performance.now() - fromMs)} ms`,
    );
    await cluster.isWhole();
  }

  /** Waits until a new event is delivered to a webhook and to a live connection on the other replica. */
  async function isDelivered(): Promise<void> {
    const { id } = await stack.guest.create(collection, { value: 0 });
    await eventually('its event is delivered', () => receivedRecordIds(receiver).includes(id), patience);
    await eventually('its change is shown', () => list.records.has(id), patience);
  }

  for (const [name, hit] of await casesOf(cluster))
    await t.test(`${hit.map((server) => server.name).join(' and ')} ${name}`, () => endures(name, hit));

  await t.test('changed access rules reach the other replica', async () => {
    await admin.post('/api/v1/collections', { name: 'gates', type: 'base', fields: [] });
    await admin.create('gates', {});
    const shown = async () => listAt((await replica.guest.get('/api/v1/gates')).json, 'data').length;
    await eventually('the replica shows guests the record', async () => (await shown()) === 1);
    await admin.patch('/api/v1/collections/gates', { list_rule: '@request.auth.id != ""' });
    await eventually('the replica shows guests nothing', async () => (await shown()) === 0);
  });

  const written = await writes.stop();
  assert.deepEqual(
    writes.results.filter(({ status }) => status !== 200 && status !== 201),
    [],
  );
  await everyWriteIsThere(admin, collection, written);
  await everyRecordArrives(admin, receiver, collection);
  await using reader = await openBusReader(cluster.servers[0]?.url ?? '');
  await eventually('every event is on the stream', () => eventsAreWhole(reader.events, written), patience);
  await eventually('the live list has every record', () => list.records.size > written.created.size, patience);
  assert.deepEqual(list.faults, []);
});

test("a starting cluster's stream waits for the third server, and has three replicas at once", async () => {
  await using cluster = await startNatsCluster({ running: 2 });
  await using ground = await createGround(undefined, cluster.bus);
  await using stack = await startStack({ topology: 'one', ground });
  await using receiver = await startReceiver();
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: collection, type: 'base', fields: [] });
  await createWebhook(admin, receiver.url, [`${collection}.*`]);
  const { id } = await stack.guest.create(collection, {});
  await eventually('the stream waits', () =>
    stack.process.lines.some((line) => line.includes('waits for three NATS cluster servers')),
  );
  await cluster.servers[2]?.start();
  await eventually('the event is delivered', () => receivedRecordIds(receiver).includes(id), patience);
  assert.equal((await cluster.streamInfo()).config.num_replicas, 3);
  assert.ok(!stack.process.lines.some((line) => line.includes('get replicas on three servers')), 'it never grew');
});
