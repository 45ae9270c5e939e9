import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { readMetrics } from '@recordbus/process/metrics';
import { fixedSettings } from '@recordbus/settings/testing';
import { eventually } from '@recordbus/testing';
import { createTickets } from '@recordbus/tokens';
import { pino } from 'pino';
import type { LoggedRequest } from '../src/request-log/request-row.ts';
import { httpUpstream } from '../src/upstream/http-upstream.ts';
import {
  bus,
  contextSigner,
  createTestGateway,
  discardingLog,
  inProcess,
  quiet,
  secret,
  serve,
  serveAlone,
} from './topologies.ts';
import { nextMessage, openWebSocket, refusalOfWebSocket, webSocketService } from './web-socket-service.ts';

const unlimited = { 'rate_limit.enabled': '0' };

/** Starts a gateway before the service, with these settings. */
async function startBefore(service: ReturnType<typeof webSocketService>, texts: Record<string, string> = {}) {
  const settings = fixedSettings(texts);
  return serve(createTestGateway({ log: quiet, settings, upstreams: [inProcess(service.service)] }));
}

describe("a WebSocket's origin", () => {
  test('is allowed if CORS allows it, or if it is the gateway itself', async () => {
    using fixture = webSocketService();
    await using gateway = await startBefore(fixture, { 'cors.origins': 'https://app.example' });
    const url = `${gateway.url}/api/v1/live`;
    for (const origin of ['https://evil.example', 'null', `http://127.0.0.1:1`]) {
      const { status, code } = await refusalOfWebSocket(url, { Origin: origin });
      assert.deepEqual([status, code], [403, 'origin_refused'], origin);
    }
    for (const origin of ['https://app.example', gateway.url, gateway.url.replace('http:', 'https:')]) {
      const webSocket = await openWebSocket(url, { Origin: origin });
      webSocket.terminate();
    }
    fixture[Symbol.dispose]();
  });
});

test("a WebSocket is opened by a ticket, and counts under its action's rate rule", async () => {
  using fixture = webSocketService();
  const rules = JSON.stringify([{ label: '*:subscribe', max: 2, windowMs: 60_000 }]);
  await using gateway = await startBefore(fixture, { 'rate_limit.rules': rules });
  const principal = { type: 'admin', id: 'a1', email: '' } as const;
  const session = { principal, tokenVersion: 0, expiresAtSec: Math.floor(Date.now() / 1000) + 60 };
  const { ticket } = await createTickets(secret).sign(session);
  const webSocket = await openWebSocket(`${gateway.url}/api/v1/live?ticket=${ticket}&a=1`);
  assert.deepEqual(fixture.seen, { url: '/api/v1/live?a=1', principal: 'admin' });
  webSocket.terminate();
  const url = `${gateway.url}/api/v1/live`;
  (await openWebSocket(url)).terminate();
  (await openWebSocket(url)).terminate();
  const refused = await refusalOfWebSocket(url);
  assert.deepEqual([refused.status, refused.code], [429, 'rate_limited']);
  assert.ok(refused.response.headers['retry-after']);
});

for (const topology of ['in one process', 'over HTTP'])
  test(`a WebSocket has one line in the logs, at its end, ${topology}`, async () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
    const requests: LoggedRequest[] = [];
    await using starting = new AsyncDisposableStack();
    const fixture = webSocketService();
    const alone = starting.use(await serveAlone(fixture.service));
    const gateway = createTestGateway({
      log,
      settings: fixedSettings({ 'logs.access': 'all' }),
      requestLog: { ...discardingLog, note: (request) => requests.push(request) },
      upstreams: [topology === 'over HTTP' ? over(alone.url) : inProcess(fixture.service)],
    });
    const running = starting.use(await serve(gateway));
    starting.use(fixture);
    const valuesOf = async (name: string) =>
      (await readMetrics(gateway.metrics))
        .flatMap(({ samples }) => samples)
        .filter((sample) => sample.name === name && sample.labels.kind !== 'stream')
        .map(({ value }) => value);
    const webSocket = await openWebSocket(`${running.url}/api/v1/live?secret=1`);
    webSocket.send('hello');
    await nextMessage(webSocket);
    assert.deepEqual(await valuesOf('recordbus_open_connections'), [1]);
    assert.deepEqual([lines, requests], [[], []]);
    webSocket.terminate();
    await eventually(() => lines.length === 1 && requests.length === 1);
    const { path, status, route, bytes, aborted } = lines[0] ?? {};
    assert.deepEqual([path, status, route, aborted], ['/api/v1/live', 101, '/api/v1/live', undefined]);
    assert.ok(Number(bytes) > 100);
    assert.deepEqual([requests[0]?.path, requests[0]?.status], ['/api/v1/live', 101]);
    await eventually(async () => (await valuesOf('recordbus_open_connections'))[0] === 0);
    assert.deepEqual(await valuesOf('recordbus_ended_connections_total'), [1]);
    assert.deepEqual(await valuesOf('recordbus_http_request_duration_seconds_count'), []);
  });

const over = (url: string) =>
  httpUpstream({ name: 'records', url, contextSigner, bus, log: quiet, answerTimeoutMs: 60_000 });

describe('WebSockets over HTTP', () => {
  test('can be opened by the hundred at once, and end when the gateway stops', async () => {
    await using starting = new AsyncDisposableStack();
    const fixture = webSocketService();
    const alone = starting.use(await serveAlone(fixture.service));
    const settings = fixedSettings(unlimited);
    const gateway = starting.use(
      await serve(createTestGateway({ log: quiet, settings, upstreams: [over(alone.url)] })),
    );
    starting.use(fixture);
    const url = `${gateway.url}/api/v1/live`;
    const webSockets = await Promise.all(Array.from({ length: 400 }, () => openWebSocket(url)));
    await eventually(() => fixture.open.size === webSockets.length);
    const closed = webSockets.map((webSocket) => once(webSocket, 'close'));
    await gateway.gateway.drain();
    await Promise.all(closed);
    await eventually(() => fixture.open.size === 0);
  });

  test('go to another replica if one cannot be reached, and are 503 if none can', async () => {
    using fixture = webSocketService();
    await using alone = await serveAlone(fixture.service);
    const { port } = new URL(alone.url);
    const upstream = (addresses: readonly string[]) =>
      httpUpstream({
        name: 'records',
        url: `http://live:${port}`,
        contextSigner,
        bus,
        log: quiet,
        answerTimeoutMs: 1000,
        resolve: async () => addresses,
      });
    await using gateway = await serve(
      createTestGateway({ log: quiet, upstreams: [upstream(['127.0.0.9', '127.0.0.1'])] }),
    );
    for (let time = 0; time < 3; time += 1) (await openWebSocket(`${gateway.url}/api/v1/live`)).terminate();
    await eventually(() => fixture.open.size === 0);
    await alone.close();
    const { status, code } = await refusalOfWebSocket(`${gateway.url}/api/v1/live`);
    assert.deepEqual([status, code], [503, 'unavailable']);
  });

  test("are refused by a service without WebSockets, and without a gateway's context", async () => {
    using fixture = webSocketService();
    const { upgrade, ...without } = fixture.service;
    await using alone = await serveAlone(without);
    await using gateway = await serve(createTestGateway({ log: quiet, upstreams: [over(alone.url)] }));
    assert.equal((await fetch(`${gateway.url}/api/v1/live`)).status, 200);
    await using other = await serveAlone(fixture.service);
    const { status, code } = await refusalOfWebSocket(`${other.url}/api/v1/live`);
    assert.deepEqual([status, code], [403, 'context_refused']);
    assert.equal(fixture.open.size, 0);
  });

  test('buffer little for a client that does not read', async () => {
    using fixture = webSocketService();
    await using alone = await serveAlone(fixture.service);
    await using gateway = await serve(createTestGateway({ log: quiet, upstreams: [over(alone.url)] }));
    const webSocket = await openWebSocket(`${gateway.url}/api/v1/live`);
    webSocket.pause();
    const [server] = fixture.open;
    const message = Buffer.alloc(1024 * 1024, 'a');
    for (let sent = 0; sent < 64; sent += 1) server?.send(message);
    let before = -1;
    await eventually(() => {
      const isStill = before === server?.bufferedAmount;
      before = server?.bufferedAmount ?? 0;
      return isStill;
    });
    assert.ok(before > 32 * 1024 * 1024, `${before} bytes wait at the service`);
    server?.terminate();
    webSocket.resume();
    await once(webSocket, 'close');
  });
});
