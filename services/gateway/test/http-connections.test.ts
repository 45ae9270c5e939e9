import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { describe, test } from 'node:test';
import { testService } from './test-service.ts';
import { quiet, serveAlone } from './topologies.ts';
import { post, refusalOf, routes, startGateway } from './upstream-fixture.ts';

describe('a connection to a service', () => {
  /** Serves raw TCP: `answer` handles each connection. */
  async function serveRaw(answer: (head: string, nth: number) => string | undefined) {
    let connections = 0;
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        const head = chunk.toString();
        if (head.startsWith('GET /internal/manifest')) {
          const body = JSON.stringify({ data: manifest });
          socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
          return;
        }
        connections += 1;
        const text = answer(head, connections);
        if (text === undefined) socket.destroy();
        else socket.end(text);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      count: () => connections,
      [Symbol.dispose]: () => {
        server.close();
      },
    };
  }
  const manifest = ['GET', 'POST'].map((method) => ({
    method,
    paths: ['/api/v1/:collection'],
    access: 'public',
    idempotent: false,
    bodyLimitBytes: 1000,
    summary: '',
    answers: {},
  }));
  const good = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok';

  test('retries a GET once when it breaks before the answer, and fails a POST', async () => {
    using service = await serveRaw((_, nth) => (nth === 1 ? undefined : good));
    await using gateway = await startGateway(service.url);
    assert.equal((await fetch(`${gateway.url}/api/v1/posts`)).status, 200);
    assert.equal(service.count(), 2);

    using other = await serveRaw(() => undefined);
    await using second = await startGateway(other.url);
    assert.deepEqual(await refusalOf(await post(second.url)), [503, 'unavailable']);
    assert.equal(other.count(), 1);
    assert.deepEqual(await refusalOf(await fetch(`${second.url}/api/v1/posts`)), [503, 'unavailable']);
    assert.equal(other.count(), 3);
  });

  test('is 504 without an answer', async () => {
    const service = await serveAlone(
      testService('records', quiet, routes, { '/api/v1/slow': () => new Promise<void>(() => {}) }),
    );
    // Its close waits for the answer that never arrives.
    using ending = new DisposableStack();
    ending.defer(() => void service.close());
    await using gateway = await startGateway(service.url, { answerTimeoutMs: 300 });
    assert.deepEqual(await refusalOf(await fetch(`${gateway.url}/api/v1/slow`)), [504, 'upstream_timeout']);
  });

  test('carries no hop-by-hop headers', async () => {
    let head = '';
    using service = await serveRaw((text) => {
      head = text.toLowerCase();
      return 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close, x-private\r\nX-Private: 1\r\nX-Shown: 1\r\n\r\nok';
    });
    await using gateway = await startGateway(service.url);
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      'GET /api/v1/posts HTTP/1.1\r\nHost: example.com\r\nConnection: close, X-Secret\r\nX-Secret: 1\r\nTE: trailers\r\nProxy-Authorization: x\r\nX-Kept: 1\r\nUpgrade: h2c\r\n\r\n',
    );
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    assert.match(answer, /^HTTP\/1.1 200 [\s\S]*X-Shown: 1/i);
    assert.doesNotMatch(answer, /x-private/i);
    assert.match(head, /x-kept: 1/);
    assert.match(head, /host: example\.com/);
    assert.match(head, /x-recordbus-context: /);
    for (const name of ['x-secret', 'te: ', 'proxy-authorization', 'upgrade']) assert.ok(!head.includes(name), name);
  });
});
