import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { eventually } from '@recordbus/testing';
import { type RunningGateway, topologies } from './topologies.ts';
import {
  handshake,
  nextMessage,
  openWebSocket,
  refusalOfWebSocket,
  type WebSocketService,
  webSocketService,
} from './web-socket-service.ts';

const answerTimeoutMs = 300;

/** A client's text frame with the mask 0 (RFC 6455 §5.2). */
const frameOf = (message: string): Buffer =>
  Buffer.concat([Buffer.from([0x81, 0x80 | message.length, 0, 0, 0, 0]), Buffer.from(message)]);

const headOf = (path: string, more: Record<string, string> = {}): string => {
  const lines = Object.entries({ Host: 'example.com', ...handshake, ...more }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
};

for (const [name, start] of Object.entries(topologies))
  describe(`a WebSocket, with its service ${name}`, () => {
    let fixture: WebSocketService;
    let gateway: RunningGateway;
    beforeEach(async () => {
      fixture = webSocketService();
      gateway = await start([fixture.service], answerTimeoutMs);
    });
    afterEach(async () => {
      fixture[Symbol.dispose]();
      await gateway.stop();
    });

    const url = (path: string) => `${gateway.url}/api/v1/${path}`;

    test('carries messages both ways, small and large', async () => {
      const webSocket = await openWebSocket(url('live?a=1'));
      webSocket.send('hello');
      assert.equal(await nextMessage(webSocket), 'hello');
      assert.deepEqual(fixture.seen, { url: '/api/v1/live?a=1', principal: 'guest' });
      const large = 'x'.repeat(5_000_000);
      webSocket.send(large);
      assert.equal((await nextMessage(webSocket)).length, large.length);
      webSocket.close(4000, 'done');
      const [code, reason] = await once(webSocket, 'close');
      assert.deepEqual([code, String(reason)], [4000, 'done']);
      await eventually(() => fixture.open.size === 0);
    });

    test('survives silence longer than the answer timeout', async () => {
      const webSocket = await openWebSocket(url('live'));
      const late = await refusalOfWebSocket(url('hangs'));
      assert.deepEqual([late.status, late.code], [504, 'upstream_timeout']);
      webSocket.send('still here');
      assert.equal(await nextMessage(webSocket), 'still here');
      webSocket.terminate();
    });

    test('gets the bytes that arrive with its request', async () => {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.write(Buffer.concat([Buffer.from(headOf('/api/v1/live')), frameOf('early')]));
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
      await eventually(() => answer.endsWith('early'));
      assert.match(answer, /^HTTP\/1\.1 101 Switching Protocols\r\n/);
      socket.destroy();
      await eventually(() => fixture.open.size === 0);
    });

    test('ends for its client when it ends at the service', async () => {
      const webSocket = await openWebSocket(url('live'));
      await eventually(() => fixture.open.size === 1);
      for (const one of fixture.open) one.terminate();
      const [code] = await once(webSocket, 'close');
      assert.equal(code, 1006);
    });

    test('is refused by the service like every other request', async () => {
      const closed = await refusalOfWebSocket(url('closed'));
      assert.deepEqual([closed.status, closed.code], [403, 'forbidden']);
      assert.equal(closed.response.headers['x-frame-options'], 'DENY');
      assert.ok(closed.response.headers['x-request-id']);
      const failed = await refusalOfWebSocket(url('fails'));
      assert.deepEqual([failed.status, failed.code], [500, 'internal_error']);
    });

    test('is refused when its path, method or handshake is wrong', async () => {
      const refusals: [number, string, string, Record<string, string>?, { method?: string; body?: string }?][] = [
        [400, 'malformed_request', 'plain'],
        [404, 'not_found', 'no/where'],
        [405, 'method_not_allowed', 'live', {}, { method: 'PATCH' }],
        [400, 'malformed_request', 'live', { 'Content-Length': '2' }, { body: '{}' }],
        [400, 'malformed_request', 'live', { 'Sec-WebSocket-Key': 'short' }],
        [426, 'upgrade_required', 'live', { 'Sec-WebSocket-Version': '8' }],
        [401, 'unauthenticated', 'admins'],
        [401, 'ticket_refused', 'live?ticket=x'],
        [400, 'token_in_url', 'live?token=x'],
      ];
      for (const [status, code, path, headers, more] of refusals) {
        const refusal = await refusalOfWebSocket(url(path), headers, more);
        assert.deepEqual([refusal.status, refusal.code], [status, code], path);
      }
      const { response } = await refusalOfWebSocket(url('live'), { 'Sec-WebSocket-Version': '8' });
      assert.equal(response.headers['sec-websocket-version'], '13');
      assert.equal(fixture.open.size, 0);
    });

    test('does not affect other protocols, which are ignored', async () => {
      const socket = connect(gateway.port, '127.0.0.1');
      const body = '{"a":1}';
      const plain = 'GET /api/v1/plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
      socket.write(
        `POST /api/v1/plain HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      const [answer] = await once(socket, 'data');
      assert.match(String(answer), /^HTTP\/1\.1 200 OK/);
      socket.write(plain);
      assert.match(await text(socket), /^HTTP\/1\.1 200 OK/);
    });

    test('is not opened behind an unfinished answer', async () => {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`GET /api/v1/plain HTTP/1.1\r\nHost: a\r\n\r\n${headOf('/api/v1/live')}`);
      await once(socket.resume(), 'close');
      assert.equal(fixture.open.size, 0);
    });

    test('is opened on a connection that was used before, and closes with it', async () => {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.write('GET /api/v1/plain HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(socket, 'data');
      socket.write(headOf('/api/v1/live'));
      await once(socket, 'data');
      await eventually(() => fixture.open.size === 1);
      const closed = once(socket.resume(), 'close');
      socket.end();
      await eventually(() => fixture.open.size === 0);
      await closed;
    });

    test('leaves nothing behind if its client disconnects before it opens', async () => {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.write(headOf('/api/v1/hangs'));
      await eventually(() => fixture.seen.url === '/api/v1/hangs');
      socket.destroy();
      fixture[Symbol.dispose]();
      assert.equal((await fetch(url('plain'))).status, 200);
      await eventually(() => fixture.open.size === 0);
    });
  });
