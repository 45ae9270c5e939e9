import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { httpUpstream } from '../src/upstream/http-upstream.ts';
import type { SlowExchangeLimit } from '../src/upstream/slow-exchanges.ts';
import { declare, testService } from './test-service.ts';
import { bus, contextSigner, createTestGateway, quiet, type RunningGateway, serve, serveAlone } from './topologies.ts';

const limit = { perClient: 3, total: 5, graceMs: 0, everyMs: 20 };

/** More than the system and the gateway buffer for a client that does not read. */
const largeAnswer = Buffer.alloc(32 * 2 ** 20, 'x');

describe('connections to a service that slow clients hold', () => {
  let running: RunningGateway;
  let sockets: Socket[];
  let begun: number;
  const cuts: number[] = [];
  beforeEach(async () => {
    [sockets, begun, cuts.length] = [[], 0, 0];
    running = await start(limit);
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await running.stop();
  });

  async function start(slowExchangeLimit: SlowExchangeLimit): Promise<RunningGateway> {
    const routes = [declare('POST', '/api/v1/body'), declare('GET', '/api/v1/large'), declare('GET', '/api/v1/small')];
    const service = testService('slow', quiet, routes, {
      '/api/v1/body': async (request, response) => {
        begun += 1;
        response.end(await text(request));
      },
      '/api/v1/large': (_request, response) => {
        begun += 1;
        response.end(largeAnswer);
      },
    });
    const log = createLogger('test', 'silent');
    log.warn = (line: { connections?: number }) => cuts.push(line.connections ?? 0);
    const server = await serveAlone(service);
    const upstream = httpUpstream({
      name: 'slow',
      url: server.url,
      contextSigner,
      bus,
      log,
      answerTimeoutMs: 60_000,
      slowExchangeLimit,
    });
    const gateway = createTestGateway({ log: quiet, upstreams: [upstream], trustedProxies: ['127.0.0.0/8'] });
    return serve(gateway, [server]);
  }

  /** Sends bytes as the given client, reads nothing, and waits until the service has begun to answer. */
  async function send(client: string, head: string, body = ''): Promise<Socket> {
    const socket = connect(running.port, '127.0.0.1').on('error', () => {});
    sockets.push(socket.pause());
    await once(socket, 'connect');
    const expected = begun + 1;
    socket.write(`${head} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\n${body}`);
    await eventually(() => begun === expected);
    return socket;
  }

  const uploadSlowly = (client: string) =>
    send(client, 'POST /api/v1/body', 'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{');
  const readNothing = (client: string) => send(client, 'GET /api/v1/large', '\r\n');

  /** A write to a connection that was cut fails. */
  const isCut = (socket: Socket): boolean => {
    if (!socket.destroyed) socket.write(' ');
    return socket.destroyed;
  };
  const cutOf = (list: readonly Socket[]): boolean[] => list.map(isCut);

  for (const [kind, hold] of Object.entries({ uploads: uploadSlowly, answers: readNothing }))
    test(`are cut beyond a client's limit, the oldest first: ${kind}`, async () => {
      const held: Socket[] = [];
      for (let n = 0; n < limit.perClient + 2; n += 1) held.push(await hold('10.0.0.1'));
      await eventually(() => cutOf(held).filter(Boolean).length === 2);
      assert.deepEqual(cutOf(held), [true, true, false, false, false]);
      assert.equal(
        cuts.reduce((sum, count) => sum + count, 0),
        2,
      );
      assert.equal((await fetch(`${running.url}/api/v1/small`)).status, 200);
    });

  test('are cut beyond the limit for all, from the client with the most', async () => {
    const first = [await uploadSlowly('10.0.0.1'), await readNothing('10.0.0.1'), await readNothing('10.0.0.1')];
    const second = [await uploadSlowly('10.0.0.2'), await uploadSlowly('10.0.0.2')];
    const third = [await readNothing('10.0.0.3')];
    await eventually(() => [...first, ...second, ...third].some(isCut));
    assert.deepEqual([first, second, third].map(cutOf), [[true, false, false], [false, false], [false]]);
  });

  test('are not counted when they begin', async () => {
    await running.stop();
    running = await start({ ...limit, graceMs: 60_000 });
    for (let n = 0; n < 2 * limit.total; n += 1) await uploadSlowly('10.0.0.1');
    const answers = await Promise.all(
      Array.from({ length: 50 }, async () => (await fetch(`${running.url}/api/v1/small`)).status),
    );
    assert.ok(answers.every((status) => status === 200));
    assert.deepEqual(cutOf(sockets), Array(2 * limit.total).fill(false));
  });
});
