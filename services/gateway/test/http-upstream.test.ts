import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { createContextSealer } from '@recordbus/shared/context';
import { httpUpstream } from '../src/upstream/http-upstream.ts';
import { eventually } from './eventually.ts';
import { declare, testService } from './test-service.ts';
import { bus, createTestGateway, inProcess, quiet, sealer, secret, serve, serveAlone, signer } from './topologies.ts';

const routes = [declare('GET', '/api/v1/:collection'), declare('POST', '/api/v1/:collection')];

/** Creates a service whose answers name the replica. */
const replica = (name: string) =>
  testService('records', quiet, routes, {
    '/api/v1/who': (_, response) => {
      response.end(name);
    },
  });

const behind = (url: string, options: Partial<Parameters<typeof httpUpstream>[0]> = {}) =>
  serve(
    createTestGateway({
      log: quiet,
      upstreams: [httpUpstream({ name: 'records', url, sealer, bus, log: quiet, answerTimeoutMs: 60_000, ...options })],
    }),
  );

const post = (url: string) =>
  fetch(`${url}/api/v1/posts`, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } });

async function readinessForAdmin(url: string): Promise<Record<string, string>> {
  const principal = { type: 'admin', id: 'a', email: 'a@example.com' } as const;
  const token = await signer.signSession({ principal, tokenVersion: 0, windowSec: 60 });
  const response = await fetch(`${url}/readyz`, { headers: { Authorization: `Bearer ${token}` } });
  return ((await response.json()) as { data: { checks: Record<string, string> } }).data.checks;
}

async function refusalOf(response: Response): Promise<[number, string]> {
  const { code } = (await response.json()) as { code: string };
  return [response.status, code];
}

describe('a service that does not answer', () => {
  test('is 503 with Retry-After in the error shape until it starts; its routes are unknown until then', async () => {
    await using service = await serveAlone(replica('one'));
    await service.close();
    await using gateway = await behind(service.url);
    const response = await fetch(`${gateway.url}/api/v1/posts`);
    assert.equal(response.headers.get('retry-after'), '1');
    assert.deepEqual(await refusalOf(response), [503, 'unavailable']);
    assert.equal((await fetch(`${gateway.url}/readyz`)).status, 503);
    assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200);

    await using _started = await serveAlone(replica('one'), service.port);
    await eventually(async () => (await fetch(`${gateway.url}/api/v1/posts`)).status === 200);
    assert.equal((await fetch(`${gateway.url}/nowhere`)).status, 404);
    await eventually(async () => (await fetch(`${gateway.url}/readyz`)).status === 200);
  });

  test('and answered before is 503, and serves again as soon as it is back', async () => {
    await using service = await serveAlone(replica('one'));
    await using gateway = await behind(service.url);
    assert.equal((await post(gateway.url)).status, 200);
    await service.close();
    for (const response of [await fetch(`${gateway.url}/api/v1/posts`), await post(gateway.url)])
      assert.deepEqual(await refusalOf(response), [503, 'unavailable']);
    const health = (await (await fetch(`${gateway.url}/api/v1/health`)).json()) as { data: object };
    assert.deepEqual(
      { ...health.data, version: '' },
      {
        status: 'degraded',
        version: '',
        services: { gateway: 'ok', records: 'unavailable' },
      },
    );
    await using _started = await serveAlone(replica('one'), service.port);
    assert.equal((await post(gateway.url)).status, 200);
  });

  test('leaves the gateway ready when it is the webhooks service', async () => {
    await using records = await serveAlone(replica('one'));
    await using gone = await serveAlone(testService('webhooks', quiet, []));
    const upstreams = [
      httpUpstream({ name: 'records', url: records.url, sealer, bus, log: quiet, answerTimeoutMs: 60_000 }),
      httpUpstream({ name: 'webhooks', url: gone.url, sealer, bus, log: quiet, answerTimeoutMs: 60_000 }),
    ];
    await using gateway = await serve(createTestGateway({ log: quiet, upstreams }), [records]);
    await gone.close();
    const readyz = await fetch(`${gateway.url}/readyz`);
    const { data } = (await readyz.json()) as { data: { checks: Record<string, string> } };
    assert.equal(readyz.status, 200);
    assert.equal(data.checks.webhooks, 'failing');
    assert.match((await readinessForAdmin(gateway.url)).webhooks ?? '', /ECONNREFUSED|closed/);
  });

  test('has 503 for its system paths, which never match collections', async () => {
    await using records = await serveAlone(replica('one'));
    await using gone = await serveAlone(testService('admin', quiet, []));
    await gone.close();
    const upstreams = [
      httpUpstream({ name: 'records', url: records.url, sealer, bus, log: quiet, answerTimeoutMs: 60_000 }),
      httpUpstream({ name: 'admin', url: gone.url, sealer, bus, log: quiet, answerTimeoutMs: 60_000 }),
    ];
    await using gateway = await serve(createTestGateway({ log: quiet, upstreams }), [records]);
    assert.equal((await fetch(`${gateway.url}/api/v1/posts`)).status, 200);
    for (const path of ['/api/v1/collections', '/api/v1/admin/me', '/nowhere'])
      assert.equal((await fetch(gateway.url + path)).status, 503, path);
    assert.equal((await fetch(`${gateway.url}/api/v1/%zz`)).status, 400);
  });
});

describe('a service with several addresses', () => {
  const two = () => Promise.resolve(['127.0.0.1', '127.0.0.2']);
  const pair = async () => {
    await using started = new AsyncDisposableStack();
    const first = started.use(await serveAlone(replica('first'), 0, '127.0.0.1'));
    started.use(await serveAlone(replica('second'), first.port, '127.0.0.2'));
    const both = started.move();
    return { first, [Symbol.asyncDispose]: () => both.disposeAsync() };
  };
  const ask = async (url: string) => (await fetch(`${url}/api/v1/who`)).text();

  test('gets requests on all of them, and serves on when one dies, also requests that must not be repeated', async () => {
    await using both = await pair();
    const { first } = both;
    await using gateway = await behind(`http://records.test:${first.port}`, { resolve: two });
    const answers = [];
    for (let request = 0; request < 20; request += 1) answers.push(await ask(gateway.url));
    assert.ok(answers.filter((name) => name === 'first').length >= 8, answers.join());
    assert.ok(answers.filter((name) => name === 'second').length >= 8, answers.join());

    await first.close();
    for (let request = 0; request < 20; request += 1) {
      assert.equal((await post(gateway.url)).status, 200);
      assert.equal(await ask(gateway.url), 'second');
    }
    await using _again = await serveAlone(replica('first'), first.port, '127.0.0.1');
    await eventually(async () => (await ask(gateway.url)) === 'first');
  });

  test('skips one that hangs, and uses it again when it answers', async () => {
    await using first = await serveAlone(replica('first'), 0, '127.0.0.1');
    const held = new Set<Socket>();
    const hanging = createTcpServer((socket) => held.add(socket.on('error', () => {}).resume()));
    using ending = new DisposableStack();
    ending.defer(() => {
      hanging.close();
      for (const socket of held) socket.destroy();
    });
    hanging.listen(first.port, '127.0.0.2');
    await once(hanging, 'listening');
    await using gateway = await behind(`http://records.test:${first.port}`, { resolve: two });
    await eventually(async () => {
      for (let request = 0; request < 6; request += 1)
        await fetch(`${gateway.url}/api/v1/who`, { signal: AbortSignal.timeout(1500) });
      return true;
    });

    ending.dispose();
    await using _second = await serveAlone(replica('second'), first.port, '127.0.0.2');
    await eventually(async () => (await ask(gateway.url)) === 'second');
  });

  test('follows changed addresses, and keeps them while the name does not resolve', async () => {
    await using both = await pair();
    const { first } = both;
    let resolve: () => Promise<string[]> = async () => ['127.0.0.1'];
    await using gateway = await behind(`http://records.test:${first.port}`, { resolve: () => resolve() });
    assert.equal(await ask(gateway.url), 'first');
    resolve = async () => ['127.0.0.2'];
    await eventually(async () => (await ask(gateway.url)) === 'second');
    resolve = () => Promise.reject(new Error('no name server'));
    await first.close();
    assert.equal(await ask(gateway.url), 'second');
  });
});

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

  test('that breaks before the answer makes a GET retry once and a POST fail', async () => {
    using service = await serveRaw((_, nth) => (nth === 1 ? undefined : good));
    await using gateway = await behind(service.url);
    assert.equal((await fetch(`${gateway.url}/api/v1/posts`)).status, 200);
    assert.equal(service.count(), 2);

    using other = await serveRaw(() => undefined);
    await using second = await behind(other.url);
    assert.deepEqual(await refusalOf(await post(second.url)), [503, 'unavailable']);
    assert.equal(other.count(), 1);
    assert.deepEqual(await refusalOf(await fetch(`${second.url}/api/v1/posts`)), [503, 'unavailable']);
    assert.equal(other.count(), 3);
  });

  test('without an answer is 504', async () => {
    const service = await serveAlone(
      testService('records', quiet, routes, { '/api/v1/slow': () => new Promise<void>(() => {}) }),
    );
    // Its close waits for the answer that never arrives.
    using ending = new DisposableStack();
    ending.defer(() => void service.close());
    await using gateway = await behind(service.url, { answerTimeoutMs: 300 });
    assert.deepEqual(await refusalOf(await fetch(`${gateway.url}/api/v1/slow`)), [504, 'upstream_timeout']);
  });

  test('carries no hop-by-hop header', async () => {
    let head = '';
    using service = await serveRaw((text) => {
      head = text.toLowerCase();
      return 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close, x-private\r\nX-Private: 1\r\nX-Shown: 1\r\n\r\nok';
    });
    await using gateway = await behind(service.url);
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

describe('a service alone in its process', () => {
  test('refuses callers other than the gateway', async () => {
    await using service = await serveAlone(replica('one'));
    const context = {
      requestId: 'x',
      traceparent: '',
      principal: { type: 'admin', id: 'a', email: 'a@example.com' } as const,
      clientAddress: '',
    };
    const forged = createContextSealer(Buffer.from('another secret with over 32 characters')).seal(context);
    const old = createContextSealer(secret, () => Date.now() - 120_000).seal(context);
    for (const header of [undefined, 'nonsense', forged, old]) {
      const response = await fetch(`${service.url}/api/v1/posts`, {
        headers: header === undefined ? {} : { 'x-recordbus-context': header },
      });
      assert.deepEqual(await refusalOf(response), [403, 'context_refused']);
    }
  });

  test('has its routes read again at once after a notice on the bus', async () => {
    const served = [declare('GET', '/api/v1/who')];
    const service = await serveAlone({ ...replica('one'), routes: served });
    const listeners = new Set<() => void>();
    const noticeBus: typeof bus = {
      onNotice(_topic, listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const gateway = await behind(service.url, { bus: noticeBus });
    assert.equal((await fetch(`${gateway.url}/api/v1/new`)).status, 404);
    served.push(declare('GET', '/api/v1/new'));
    for (const notify of listeners) notify();
    await eventually(async () => (await fetch(`${gateway.url}/api/v1/new`)).status !== 404);
    await service.close();
    await gateway.stop();
    assert.equal(listeners.size, 0);
  });

  test('with another secret is not ready, and admins see why', async () => {
    const other = createContextSealer(Buffer.from('another secret with over 32 characters'));
    await using service = await serveAlone(replica('one'));
    const upstream = httpUpstream({
      name: 'records',
      url: service.url,
      sealer: other,
      bus,
      log: quiet,
      answerTimeoutMs: 60_000,
    });
    await using gateway = await serve(createTestGateway({ log: quiet, upstreams: [upstream] }), [service]);
    const readyz = await fetch(`${gateway.url}/readyz`);
    const { data } = (await readyz.json()) as { data: { checks: Record<string, string> } };
    assert.equal(readyz.status, 503);
    assert.equal(data.checks.records, 'failing');
    assert.match((await readinessForAdmin(gateway.url)).records ?? '', /routes: not loaded yet/);
  });
});

test('the gateway does not start when two services declare the same route', async () => {
  const log = quiet;
  const upstreams = ['records', 'admin'].map((name) => inProcess(testService(name, log, routes)));
  await assert.rejects(createTestGateway({ log, upstreams }).start(), /GET \/api\/v1\/:collection is declared twice/);
});
