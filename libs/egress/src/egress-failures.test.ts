import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { createGate, good, plain, startClient } from './test-client.ts';
import { startReceiver, until } from './test-receiver.ts';

describe('the deadline', () => {
  const impatient = { ...plain, timeoutMs: 200 };
  const expected = { message: 'timeout after 200 ms', code: 'EGRESS_TIMEOUT' };

  test('ends the wait for a server that hangs', async (t) => {
    const receiver = await startReceiver(t, () => {});
    await assert.rejects(startClient(t).request(receiver.url, impatient), expected);
    await until('the hanging socket is closed', () => receiver.openSockets() === 0);
  });

  test('ends a body that arrives byte by byte', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => {
      res.writeHead(200);
      const drip = setInterval(() => res.write('.'), 10);
      res.on('close', () => clearInterval(drip));
    });
    await assert.rejects(startClient(t).request(receiver.url, impatient), expected);
    await until('the dripping socket is closed', () => receiver.openSockets() === 0);
  });

  test('covers the lookup, and a request that timed out during it is never sent', async (t) => {
    const requested: (string | undefined)[] = [];
    const gate = createGate();
    const lookup = () => gate.opened.then(() => [good]);
    const receiver = await startReceiver(t, (req, res) => {
      requested.push(req.url);
      res.end();
    });
    const client = startClient(t, { lookup, maxSocketsPerOrigin: 1 });
    const url = `http://slow.test:${receiver.port}/`;
    await assert.rejects(client.request(`${url}first`, impatient), expected);
    gate.open();
    await client.request(`${url}second`, plain);
    assert.deepEqual(requested, ['/second']);
  });

  test('covers the wait for a socket, and a request that timed out during it is never sent', async (t) => {
    const requested: (string | undefined)[] = [];
    const gate = createGate();
    const receiver = await startReceiver(t, async (req, res) => {
      requested.push(req.url);
      await gate.opened;
      res.end();
    });
    const client = startClient(t, { maxSocketsPerOrigin: 1 });
    const first = client.request(receiver.url, plain);
    await assert.rejects(client.request(`${receiver.url}/2`, impatient), expected);
    gate.open();
    await first;
    await client.request(`${receiver.url}/3`, plain);
    assert.deepEqual(requested, ['/hook', '/hook/3']);
  });
});

describe('a request that fails', () => {
  test('reports a refused connection', async (t) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    await new Promise((resolve) => server.close(resolve));
    await assert.rejects(startClient(t).request(`http://127.0.0.1:${address.port}/`, plain), {
      message: 'connection refused (ECONNREFUSED)',
    });
  });

  test('reports a reset connection', async (t) => {
    const receiver = await startReceiver(t, (req) => void req.socket.resetAndDestroy());
    await assert.rejects(startClient(t).request(receiver.url, plain), {
      message: 'connection reset by the receiver (ECONNRESET)',
    });
  });

  test('reports a connection that closes within the body', async (t) => {
    const receiver = await startReceiver(t, (req, res) => {
      res.writeHead(200, { 'content-length': '100' });
      res.write('half', () => req.socket.end());
    });
    await assert.rejects(
      startClient(t).request(receiver.url, plain),
      /connection closed before the answer was complete/,
    );
  });

  test('reports an answer that is not HTTP', async (t) => {
    const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    await assert.rejects(
      startClient(t).request(`http://127.0.0.1:${address.port}/`, plain),
      /^EgressFailedError: answer is not valid HTTP/,
    );
  });

  test('leaves the client usable', async (t) => {
    let requests = 0;
    const receiver = await startReceiver(t, (req, res) => {
      if (requests++ === 0) req.socket.resetAndDestroy();
      else res.end();
    });
    const client = startClient(t, { maxSocketsPerOrigin: 1 });
    await assert.rejects(client.request(receiver.url, plain));
    assert.equal((await client.request(receiver.url, plain)).status, 200);
  });
});
