import assert from 'node:assert/strict';
import { createServer, type Server, type Socket, connect as tcpConnect } from 'node:net';
import { describe, it } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { nats } from './bus.ts';
import { connectBus } from './connect-bus.ts';

const { TEST_NATS_URL = '' } = process.env;
const skip = TEST_NATS_URL ? false : 'TEST_NATS_URL is not set';
const log = createLogger('test', 'silent');

describe('a bus that is down', () => {
  it('starts, is not ready, delivers within the process, and closes', async () => {
    const bus = connectBus({ urls: 'nats://127.0.0.1:1', name: 'test', log });
    const texts: string[] = [];
    const unsubscribe = bus.subscribe('broadcast', (text) => texts.push(text));
    bus.publish('broadcast', 'one');
    bus.publish('presence', 'none');
    unsubscribe();
    bus.publish('broadcast', 'two');
    assert.deepEqual(texts, ['one']);
    let notices = 0;
    bus.onNotice('schema', () => {
      notices += 1;
    });
    bus.notify('schema');
    assert.equal(notices, 1);
    await assert.rejects(bus.ping());
    await bus.close();
  });
});

describe('the bus', { skip }, () => {
  it('delivers a notice to other processes, once', async () => {
    const [one, other] = ['one', 'other'].map((name) => connectBus({ urls: TEST_NATS_URL, name, log }));
    assert.ok(one && other);
    const notices = { one: 0, other: 0 };
    one.onNotice('webhooks', () => {
      notices.one += 1;
    });
    other.onNotice('webhooks', () => {
      notices.other += 1;
    });
    await eventually(() => one.connected && other.connected);
    await other.ping();
    one.notify('webhooks');
    await eventually(() => notices.other > 0);
    await one.ping();
    assert.deepEqual(notices, { one: 1, other: 1 });
    await Promise.all([one.close(), other.close()]);
  });

  it('delivers each message once, in order, to every process', async () => {
    const [one, other] = ['one', 'other'].map((name) => connectBus({ urls: TEST_NATS_URL, name, log }));
    assert.ok(one && other);
    const texts: { readonly one: string[]; readonly other: string[] } = { one: [], other: [] };
    one.subscribe('broadcast', (text) => texts.one.push(text));
    await eventually(() => one.connected && other.connected);
    other.subscribe('broadcast', (text) => texts.other.push(text));
    await other.ping();
    const sent = ['ä', '', 'b'];
    for (const text of sent) one.publish('broadcast', text);
    await eventually(() => texts.other.length === 3);
    await one.ping();
    assert.deepEqual(texts, { one: sent, other: sent });
    await Promise.all([one.close(), other.close()]);
  });

  it('coalesces many notices into one, and later ones into another', async () => {
    const bus = connectBus({ urls: TEST_NATS_URL, name: 'test', log });
    let notices = 0;
    bus.onNotice('outbox', () => {
      notices += 1;
    });
    for (let count = 0; count < 100; count += 1) bus.notify('outbox');
    await eventually(() => notices === 2);
    await bus.close();
  });

  it('connects when the server starts, and again after an outage', async () => {
    // Any server in a cluster will do.
    const { hostname, port } = new URL(TEST_NATS_URL.split(',')[0] ?? '');
    const gate = await openGate(hostname, Number(port));
    await gate.shut();
    const bus = connectBus({ urls: `nats://127.0.0.1:${gate.port}`, name: 'test', log });
    let connects = 0;
    bus.onConnect(() => {
      connects += 1;
    });
    await gate.open();
    await eventually(() => bus.connected);
    await gate.shut();
    await eventually(() => !bus.connected);
    await assert.rejects(bus.ping());
    assert.throws(() => bus[nats].jetstream());
    await gate.open();
    await eventually(() => bus.connected && bus.generation === 2);
    await bus.ping();
    assert.equal(connects, 2);
    await bus.close();
    await gate.shut();
  });
});

/** A proxy to the server that a test can close. */
async function openGate(host: string, serverPort: number) {
  const sockets = new Set<Socket>();
  const accept = (socket: Socket) => {
    const upstream = tcpConnect(serverPort, host);
    for (const end of [socket, upstream]) {
      sockets.add(end);
      end.on('error', () => {});
    }
    socket.pipe(upstream).pipe(socket);
  };
  let server: Server = createServer(accept);
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    port,
    async shut() {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      await new Promise((resolve) => server.close(resolve));
    },
    async open() {
      server = createServer(accept);
      await listen(port);
    },
  };
}
