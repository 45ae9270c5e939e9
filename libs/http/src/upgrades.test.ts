import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import { createConnections } from './connections.ts';
import { sendError } from './respond.ts';
import { type ListeningServer, listen } from './server.ts';
import type { UpgradeHandler } from './service.ts';
import { dispatchUpgrade, serveUpgrades, upgradeHead } from './upgrades.ts';

const context: RequestContext = {
  requestId: 'r',
  traceparent: '',
  principal: { type: 'guest', rejectedToken: false },
  clientAddress: '127.0.0.1',
};
const log = createLogger('test', 'silent');

type Options = Partial<Parameters<typeof listen>[1]>;

/** Serves an app that passes every request for a WebSocket to `upgrade`. */
const serve = (upgrade: UpgradeHandler, options: Options = {}): Promise<ListeningServer> =>
  listen(
    (request, response) => {
      const head = upgradeHead(request);
      if (request.url === '/waits') return;
      if (head === undefined) response.end('plain');
      else
        void dispatchUpgrade(upgrade, request, response, head, context).catch((error) =>
          sendError(request, response, error, log, {}),
        );
    },
    { host: '127.0.0.1', port: 0, acceptsWebSockets: true, ...options },
  );

const requestFor = (protocol: string, more = ''): string =>
  `GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n${more}\r\n`;

const accept: UpgradeHandler = async (_request, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
  socket.resume().once('end', () => socket.end());
};

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(requestFor('WebSocket'));
  await once(socket, 'data');
  return socket;
}

test('a connection that was handed over may be silent for longer than a client', async () => {
  const server = await serve(accept, { patience: { headMs: 1000, periodMs: 50, minBodyBytes: 1 } });
  const socket = await open(server.port);
  let isClosed = false;
  socket.once('close', () => (isClosed = true));
  // The body of a plain request must arrive within the same time.
  for (let time = 0; time < 3; time += 1) {
    const slow = connect(server.port, '127.0.0.1');
    slow.write('POST /waits HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n');
    // The server may reset this connection, because its body has not arrived.
    slow.on('error', () => {});
    await new Promise((resolve) => slow.resume().once('close', resolve));
  }
  assert.equal(isClosed, false);
  socket.destroy();
  await server.close();
});

test('a close waits for connections that were handed over, and cuts those that stay', async () => {
  const server = await serve(accept, { webSocketsEndMs: 200 });
  const [leaving, staying] = [await open(server.port), await open(server.port)];
  const cut = once(staying, 'close');
  const startMs = performance.now();
  const closed = server.close();
  leaving.destroy();
  await cut;
  assert.ok(performance.now() - startMs >= 190);
  await closed;
});

test('a handler refuses by throwing, and is cut off once it has written', async () => {
  const refusing = await serve(async () => {
    throw new Error('a defect');
  });
  const socket = connect(refusing.port, '127.0.0.1');
  socket.write(requestFor('websocket'));
  assert.match(await text(socket), /^HTTP\/1\.1 500 [\s\S]*Connection: close[\s\S]*internal_error/);
  await refusing.close();

  const breaking = await serve(async (_request, duplex) => {
    duplex.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    throw new Error('a defect');
  });
  const other = await open(breaking.port);
  await once(other.resume(), 'close');
  await breaking.close();
});

test('unread messages count as unread answers, and the connection is cut', async () => {
  const server = await serve(
    async (request, socket, head) => {
      await accept(request, socket, head, context);
      socket.write(Buffer.alloc(64 * 2 ** 20));
    },
    { unreadLimit: { maxBytes: 2 ** 20, everyMs: 20 } },
  );
  const socket = await open(server.port);
  socket.pause();
  await server.close();
});

test('on an older Node, upgrades to other protocols are plain requests', async () => {
  const connections = createConnections();
  const server = createServer();
  server.on('connection', connections.add);
  serveUpgrades(server, connections, (request, response) => response.end(`head: ${upgradeHead(request)}`));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answerTo = async (request: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    socket.write(request);
    return text(socket);
  };
  assert.match(await answerTo(requestFor('h2c')), /^HTTP\/1\.1 200 [\s\S]*head: undefined$/);
  assert.equal(await answerTo(`${requestFor('h2c', 'Content-Length: 2\r\n')}{}`), '');
  server.close();
});
