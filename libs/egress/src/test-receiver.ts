import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

export type TestReceiver = {
  readonly url: string;
  readonly port: number;
  /** All connections so far, in order. */
  readonly sockets: readonly Socket[];
  readonly openSockets: () => number;
};

/** Starts a real HTTP server on 127.0.0.1 that ends with the test. */
export async function startReceiver(t: TestContext, listener: RequestListener): Promise<TestReceiver> {
  const sockets: Socket[] = [];
  const server = createServer(listener);
  server.on('connection', (socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    sockets,
    openSockets: () => sockets.filter((socket) => !socket.destroyed).length,
  };
}

/** Polls until the condition holds; fails after `timeoutMs`. */
export async function until(what: string, condition: () => boolean, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!condition()) {
    assert.ok(Date.now() < deadline, `never happened: ${what}`);
    await delay(5);
  }
}
