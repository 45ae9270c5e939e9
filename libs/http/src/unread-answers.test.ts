import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { createMetrics, type Metrics } from '@recordbus/process/metrics';
import { eventually } from '@recordbus/testing';
import { type ListeningServer, listen } from './server.ts';

const mebibyte = 2 ** 20;
const limit = { maxBytes: 64 * mebibyte, everyMs: 20 };
/** More than the system buffers for a client that does not read. */
const answer = Buffer.alloc(16 * mebibyte, 'x');

describe('answers that clients do not read', () => {
  let server: ListeningServer;
  let metrics: Metrics;
  let deaf: Socket[];
  const logged: { connections?: number; bytes?: number }[] = [];
  beforeEach(async () => {
    deaf = [];
    logged.length = 0;
    metrics = createMetrics('test');
    const log = createLogger('test', 'silent');
    log.warn = (line: object) => logged.push(line);
    server = await listen((_request, response) => response.end(answer), {
      host: '127.0.0.1',
      port: 0,
      unreadLimit: limit,
      log,
      metrics,
    });
  });
  afterEach(async () => {
    for (const socket of deaf) socket.destroy();
    await server.close();
  });

  /** Sends two requests on a connection and reads nothing. */
  async function sendUnread(): Promise<Socket> {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {});
    socket.pause();
    deaf.push(socket);
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2));
    return socket;
  }

  const metric = async (name: string): Promise<number> => {
    const found = await metrics.registry.getSingleMetric(name)?.get();
    return found?.values[0]?.value ?? Number.NaN;
  };

  /** Only a reader sees the end of a connection; a write fails if the connection was reset. */
  const isCut = (socket: Socket): boolean => {
    if (!socket.destroyed) socket.write('\r\n');
    return socket.destroyed;
  };

  test('are measured, and below the limit no connection is cut', async () => {
    await sendUnread();
    await sendUnread();
    await eventually(async () => (await metric('recordbus_unread_answers_bytes')) > answer.length);
    for (let n = 0; n < 20; n += 1)
      assert.equal((await (await fetch(server.url)).arrayBuffer()).byteLength, answer.length);
    assert.ok((await metric('recordbus_unread_answers_bytes')) <= 2 * (answer.length + 1000));
    assert.equal(deaf.filter(isCut).length, 0);
    assert.deepEqual(logged, []);
  });

  test('are cut beyond the limit, logged and counted, unless the client reads', async () => {
    await Promise.all(Array.from({ length: 20 }, sendUnread));
    await eventually(async () => {
      assert.equal((await (await fetch(server.url)).arrayBuffer()).byteLength, answer.length);
      return (await metric('recordbus_unread_answers_bytes')) <= limit.maxBytes && deaf.filter(isCut).length > 0;
    });
    await eventually(async () => (await metric('recordbus_unread_answers_cut_total')) === deaf.filter(isCut).length);
    // The log has a budget of lines; the counter counts all.
    const inLog = logged.reduce((sum, { connections = 0 }) => sum + connections, 0);
    assert.ok(inLog > 0 && inLog <= (await metric('recordbus_unread_answers_cut_total')), `${inLog} in the log`);
    for (const { bytes = 0, connections = 0 } of logged)
      assert.ok(bytes > 0 && bytes <= connections * (answer.length + 1000), `${bytes} of ${connections}`);
  });
});
