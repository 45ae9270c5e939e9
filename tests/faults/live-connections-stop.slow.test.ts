import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { openLive } from '../harness/clients/live-client.ts';
import { eventually } from '../harness/eventually.ts';
import { endChild } from '../harness/processes/child.ts';
import {
  callers,
  createDataDirectory,
  readiness,
  type Stack,
  startProduct,
  startStack,
} from '../harness/stacks/stack.ts';
import { topologiesOrInCi } from '../harness/stacks/target.ts';

const subscription = { id: 'all', collection: 'notes' };
const notes = { name: 'notes', type: 'base', list_rule: null, fields: [{ name: 'title', type: 'text' }] };

/** Opens a WebSocket and then never answers, not even a close. */
async function openRudely(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(
    'GET /api/v1/realtime HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  const [head] = await once(socket, 'data');
  assert.match(String(head), /^HTTP\/1\.1 101 /);
  return socket;
}

for (const topology of topologiesOrInCi('processes'))
  test(`SIGTERM ends live connections, and none of them delays the stop (${topology}) [http §13.6, §13.7]`, async () => {
    await using tidying = new AsyncDisposableStack();
    const dataDirectory = createDataDirectory();
    tidying.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
    const product = tidying.adopt(startProduct(topology, { SERVICE_DATA_DIR: dataDirectory }), async (child) => {
      await endChild(child);
    });
    const { url, setupToken } = await readiness(product);
    const admin = await callers(url, setupToken).admin();
    await admin.post('/api/v1/collections', notes);
    const stream = tidying.use(await openLive(url, [subscription]));
    await stream.arrived('ready');
    const webSocket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/realtime`, 'recordbus.v1');
    await once(webSocket, 'open');
    const webSocketClosed = once(webSocket, 'close');
    const rude = await openRudely(url);
    const rudeClosed = once(rude.resume(), 'close');

    product.kill('SIGTERM');
    await Promise.all([stream.closed(), webSocketClosed, rudeClosed]);
    assert.deepEqual(await product.exited, { code: 0, signal: null });
  });

test('live connections move to another process when theirs ends [http §13.6]', async () => {
  await using stack = await startStack({ topology: 'processes' });
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', notes);
  const pidOf = (name: 'gateway' | 'realtime') => (stack.services as Stack['services'])[name]?.pid ?? 0;
  for (const [name, signal] of [
    ['realtime', 'SIGKILL'],
    ['gateway', 'SIGTERM'],
  ] as const) {
    const stream = await openLive(stack.url, [subscription]);
    await stream.arrived('ready');
    const webSocket = new WebSocket(`${stack.url.replace('http', 'ws')}/api/v1/realtime`, 'recordbus.v1');
    await once(webSocket, 'open');
    const webSocketClosed = once(webSocket, 'close');
    const before = pidOf(name);
    process.kill(before, signal);
    await Promise.all([stream.closed(), webSocketClosed]);
    await eventually(`${name} runs again`, () => pidOf(name) !== before);
    await eventually('a live connection opens again', async () => {
      await using again = await openLive(stack.url, [subscription]);
      return again.status === 200;
    });
  }
});
