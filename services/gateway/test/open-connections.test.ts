import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { readMetrics } from '@recordbus/process/metrics';
import { fixedSettings } from '@recordbus/settings/testing';
import { eventually } from '@recordbus/testing';
import { pino } from 'pino';
import type { LoggedRequest } from '../src/request-log/request-row.ts';
import type { HeldConnection } from '../src/upstream/held-connection.ts';
import { httpUpstream } from '../src/upstream/http-upstream.ts';
import { OpenConnections } from '../src/upstream/open-connections.ts';
import { openService, openStream, theOnly } from './open-service.ts';
import {
  bus,
  contextSigner,
  createTestGateway,
  discardingLog,
  inProcess,
  quiet,
  serve,
  serveAlone,
} from './topologies.ts';
import { startGateway } from './upstream-fixture.ts';

const over = (url: string, answerTimeoutMs = 1000) =>
  httpUpstream({ name: 'records', url, contextSigner, bus, log: quiet, answerTimeoutMs });

/** Longer than a busy machine takes to open a thousand connections. */
const patienceMs = 60_000;

const mebibyte = 1024 * 1024;

describe('connections that stay open, over HTTP', () => {
  test('may outnumber the request connections, and delay no request', async () => {
    const fixture = openService();
    const { service, open } = fixture;
    await using alone = await serveAlone(service);
    const settings = fixedSettings({ 'rate_limit.enabled': '0' });
    const upstreams = [over(alone.url, patienceMs)];
    await using gateway = await serve(createTestGateway({ log: quiet, settings, upstreams }));
    using _open = fixture;
    const count = 1100;
    const responses = await Promise.all(Array.from({ length: count }, () => openStream(`${gateway.url}/api/v1/live`)));
    assert.ok(responses.every(({ statusCode }) => statusCode === 200));
    assert.equal(open.size, count);
    assert.equal((await fetch(`${gateway.url}/api/v1/plain`)).status, 200);
    for (const response of open) response.write('data: all\n\n');
    await Promise.all(responses.map((response) => once(response, 'data')));
    for (const response of responses) response.destroy();
    await eventually(() => open.size === 0);
  });

  test('end when the gateway stops', async () => {
    const fixture = openService();
    const { service, open } = fixture;
    await using alone = await serveAlone(service);
    await using gateway = await startGateway(alone.url);
    using _open = fixture;
    const response = await openStream(`${gateway.url}/api/v1/live`);
    theOnly(open).write('data: last\n\n');
    await gateway.gateway.drain();
    assert.equal(await text(response), 'data: last\n\n');
    await eventually(() => open.size === 0);
  });

  test('are cut when their replica dies, and can be opened at another', async () => {
    const services = [openService(), openService()] as const;
    await using first = await serveAlone(services[0].service, 0, '127.0.0.1');
    await using second = await serveAlone(services[1].service, first.port, '127.0.0.2');
    await using gateway = await startGateway(`http://live:${second.port}`, {
      resolve: async () => ['127.0.0.1', '127.0.0.2'],
    });
    using _first = services[0];
    using _second = services[1];
    const [one, other] = await Promise.all([1, 2].map(() => openStream(`${gateway.url}/api/v1/live`)));
    assert.deepEqual(
      services.map(({ open }) => open.size),
      [1, 1],
    );
    for (const response of services[0].open) response.socket?.destroy();
    const broken = [one, other].map((response) => response && text(response).catch(() => 'broken'));
    assert.equal(await Promise.race(broken), 'broken');
    for (const response of services[1].open) response.end();
    await Promise.all(broken);
  });

  test('buffer little for a client that does not read', async () => {
    let written = 0;
    let isFull = false;
    const fixture = openService((response) => {
      const fill = () => {
        const chunk = Buffer.alloc(64 * 1024, 'a');
        while (written < 64 * mebibyte) {
          written += chunk.length;
          if (!response.write(chunk)) break;
        }
        isFull = response.writableNeedDrain;
        response.once('drain', fill);
      };
      fill();
    });
    const { service, open } = fixture;
    await using alone = await serveAlone(service);
    await using gateway = await startGateway(alone.url);
    using _open = fixture;
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write('GET /api/v1/live HTTP/1.1\r\nHost: a\r\n\r\n');
    // The system's buffers for the four sockets have a limit too.
    let before = -1;
    await eventually(() => {
      const isStill = isFull && before === written;
      before = written;
      return isStill;
    });
    assert.ok(written < 32 * mebibyte, `${written} bytes were taken`);
    theOnly(open).destroy();
    await once(socket.resume(), 'close');
    assert.equal(open.size, 0);
  });
});

test('a connection that stayed open is counted and logged once, at its end', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const requests: LoggedRequest[] = [];
  const fixture = openService();
  const { service, open } = fixture;
  const gateway = createTestGateway({
    log,
    settings: fixedSettings({ 'logs.access': 'all' }),
    requestLog: { ...discardingLog, note: (request) => requests.push(request) },
    upstreams: [inProcess(service)],
  });
  await using running = await serve(gateway);
  using _open = fixture;
  const valuesOf = async (name: string) =>
    (await readMetrics(gateway.metrics))
      .flatMap(({ samples }) => samples)
      .filter((sample) => sample.name === name)
      .map(({ labels, value }) => [labels.kind, value]);
  const response = await openStream(`${running.url}/api/v1/live?private=secret`);
  await eventually(() => open.size === 1);
  assert.deepEqual(await valuesOf('recordbus_open_connections'), [
    ['stream', 1],
    ['websocket', 0],
  ]);
  assert.deepEqual([lines, requests], [[], []]);
  theOnly(open).write('data: 1\n\n');
  await once(response, 'data');
  response.destroy();
  await eventually(() => lines.length === 1 && requests.length === 1);
  const { path, status, route, bytes, aborted, upstream_ms } = lines[0] ?? {};
  assert.deepEqual([path, status, route], ['/api/v1/live', 200, '/api/v1/live']);
  assert.ok(Number(bytes) > 100);
  assert.deepEqual([aborted, upstream_ms], [undefined, undefined]);
  assert.deepEqual([requests[0]?.path, requests[0]?.status], ['/api/v1/live', 200]);
  assert.deepEqual(await valuesOf('recordbus_open_connections'), [
    ['stream', 0],
    ['websocket', 0],
  ]);
  assert.deepEqual(await valuesOf('recordbus_ended_connections_total'), [['stream', 1]]);
  assert.deepEqual(await valuesOf('recordbus_http_request_duration_seconds_count'), []);
});

test('a gateway without its service refuses a connection that would stay open', async () => {
  const upstreams = [over('http://127.0.0.1:9')];
  await using running = await serve(createTestGateway({ log: quiet, upstreams }));
  assert.equal((await openStream(`${running.url}/api/v1/live`)).statusCode, 503);
});

test('a drain ends connections that open meanwhile, and cuts those that do not end in time', async () => {
  const open = new OpenConnections();
  const ends: string[] = [];
  const held = (name: string, endsItself: boolean): HeldConnection => ({
    index: -1,
    client: 'a',
    sinceMs: 0,
    isClientSlow: () => true,
    cut() {
      ends.push(`${name} cut`);
      open.remove(this);
    },
    end() {
      if (!endsItself) return;
      ends.push(`${name} ended`);
      open.remove(this);
    },
  });
  open.add(held('slow', false));
  const drained = open.drain(300);
  open.add(held('late', true));
  await drained;
  assert.deepEqual(ends, ['late ended', 'slow cut']);
});
