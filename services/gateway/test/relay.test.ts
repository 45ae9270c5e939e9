import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { listen } from '@recordbus/http';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { Pool } from 'undici';
import { relay } from '../src/upstream/relay.ts';
import { SlowExchanges } from '../src/upstream/slow-exchanges.ts';

const answer = Buffer.alloc(256 * 1024, 'x');

/** More than the system buffers for a client that does not read. */
const requests = 100;

test('a client that does not read holds no connection to the service, and gets its answer when it reads', async () => {
  await using ending = new AsyncDisposableStack();
  const serve = async (app: Parameters<typeof listen>[0]) => {
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    ending.defer(() => server.close());
    return server;
  };
  const service = await serve((_request, response) => response.end(answer));
  const pool = new Pool(service.url, { connections: 1 });
  ending.defer(() => pool.close());
  const held = new SlowExchanges(createLogger('test', 'silent'));
  let latest: ServerResponse | undefined;
  const front = await serve((request, response) => {
    if (request.url === '/unread') latest = response;
    void relay(pool, request, response, { sign: () => 'context', client: 'a', held, staysOpen: false });
  });

  const socket = connect(front.port, '127.0.0.1').on('error', () => {});
  ending.defer(() => void socket.destroy());
  socket.pause();
  await once(socket, 'connect');
  socket.write('GET /unread HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(requests));
  let takenBefore = 0;
  await eventually(() => {
    const taken = latest?.socket ? latest.socket.bytesWritten - latest.socket.writableLength : 0;
    const isStuck = taken > 0 && taken === takenBefore && (latest?.writableLength ?? 0) > 0;
    takenBefore = taken;
    return isStuck;
  });
  const other = await fetch(`${front.url}/other`, { signal: AbortSignal.timeout(10_000) });
  assert.equal((await other.arrayBuffer()).byteLength, answer.length);

  let received = 0;
  socket.on('data', (chunk) => {
    received += chunk.length;
  });
  socket.resume();
  await eventually(() => received >= requests * answer.length);
});
