import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { payloadTooLarge } from '@recordbus/errors';
import { createLogger } from '@recordbus/process/logging';
import { sendError, sendReply } from './respond.ts';
import { type ListeningServer, listen } from './server.ts';

const log = createLogger('test', 'silent');

test('a server that closes lets the request in flight finish and then closes its connection', {
  timeout: 20_000,
}, async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const server = await listen(
    async (_request, response) => {
      begin();
      await released;
      response.end('done');
    },
    { host: '127.0.0.1', port: 0 },
  );
  // Unlike fetch, this client keeps its connection for good.
  const socket = connect(server.port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await begun;
  const closed = server.close();
  release();
  assert.match(await text(socket), /done$/m);
  await closed;
});

test('a server that closes does not wait for a connection that sent nothing', { timeout: 20_000 }, async () => {
  const server = await listen((_request, response) => response.end(), { host: '127.0.0.1', port: 0 });
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  await (await fetch(server.url)).text();
  const ended = once(socket.resume(), 'close');
  await server.close();
  await ended;
});

describe('a server that is listening', () => {
  const floodBytes = 800_000;
  /** Answers once most of it has arrived behind the request. */
  const answerAfterFlood = (response: ServerResponse): void => {
    if ((response.socket?.bytesRead ?? 0) > floodBytes / 2)
      sendReply(response, { status: 200, body: { data: 'late' } });
    else setImmediate(answerAfterFlood, response);
  };
  let server: ListeningServer;
  before(async () => {
    server = await listen(
      (request, response) => {
        if (request.url === '/waits') request.resume();
        else if (request.url === '/begins') response.write('begun');
        else if (request.url === '/reads') text(request).then((body) => sendReply(response, { status: 200, body }));
        else if (request.url === '/later') answerAfterFlood(response);
        else if (request.method === 'POST') sendError(request, response, payloadTooLarge(10), log, {});
        else sendReply(response, { status: 200, body: { data: request.url?.length } });
      },
      { host: '127.0.0.1', port: 0 },
    );
  });
  after(() => server.close());

  /** Sends text unchanged and reads until the server closes the connection. */
  async function exchange(sent: string): Promise<{ head: string; body: unknown }> {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(sent);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    return { head, body: JSON.parse(body) };
  }

  test('a 100 KiB request line is read', async () => {
    const { head } = await exchange(`GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    assert.match(head, /^HTTP\/1.1 200 /);
  });

  test('larger headers get 431 and invalid HTTP gets 400, both in the error shape and with the usual headers', async () => {
    const tooLarge = await exchange(`GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'a'.repeat(140_000)}\r\n\r\n`);
    assert.match(tooLarge.head, /^HTTP\/1.1 431 Request Header Fields Too Large\r\n/);
    assert.deepEqual(tooLarge.body, { error: 'the request line and headers are too large', code: 'headers_too_large' });
    for (const name of [
      'X-Request-Id: [0-9a-f-]{36}',
      'X-Content-Type-Options: nosniff',
      'X-Frame-Options: DENY',
      'Vary: Origin',
    ])
      assert.match(tooLarge.head, new RegExp(name));
    for (const sent of [
      'nonsense\r\n\r\n',
      'FOO / HTTP/1.1\r\nHost: a\r\n\r\n',
      'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n',
      'GET / HTTP/1.1\r\nbad header\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3x\r\n\r\nabc',
      'GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n',
    ]) {
      const { head, body } = await exchange(sent);
      assert.match(head, /^HTTP\/1.1 400 Bad Request\r\n/, sent);
      assert.deepEqual(body, { error: 'the request is not valid HTTP', code: 'malformed_request' });
    }
  });

  test('a body that is invalid HTTP gets 400, unless an answer has begun', async () => {
    const head = (path: string) => `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const refused = await exchange(`${head('/waits')}not a length\r\n`);
    assert.match(refused.head, /^HTTP\/1.1 400 Bad Request\r\n/);
    const socket = connect(server.port, '127.0.0.1').on('error', () => {});
    socket.write(head('/begins'));
    const [begun] = await once(socket, 'data');
    const rest: Buffer[] = [];
    socket.on('data', (chunk) => rest.push(chunk));
    socket.write('not a length\r\n');
    await once(socket, 'close');
    assert.doesNotMatch(Buffer.concat([begun, ...rest]).toString(), /400/);
  });

  test('invalid HTTP behind a request is refused after its answer', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`GET /later HTTP/1.1\r\nHost: a\r\n\r\n${'nonsense'.repeat(floodBytes / 8)}`);
    assert.match(await text(socket), /^HTTP\/1.1 200 [\s\S]*"data":"late"}HTTP\/1.1 400 /);
    process.off('warning', warn);
    assert.deepEqual(warnings, []);
  });

  test('a refusal keeps the connection when the whole body has arrived with the head', async () => {
    const socket = connect(server.port, '127.0.0.1');
    const refused = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody';
    socket.write(`${refused}${refused}GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const statuses = [...(await text(socket)).matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status);
    assert.deepEqual(statuses, ['413', '413', '200']);
  });

  test('a client with Expect: 100-continue gets 100 when the body is read, but not before a refusal', async () => {
    const head = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n`;
    const refused = await exchange(head('/'));
    assert.match(refused.head, /^HTTP\/1.1 413 /);
    const socket = connect(server.port, '127.0.0.1');
    socket.write(head('/reads'));
    const [interim] = await once(socket, 'data');
    assert.equal(interim.toString(), 'HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('body');
    assert.match(await text(socket), /^HTTP\/1.1 200 [\s\S]*"body"$/);
  });

  test('another expectation is ignored', async () => {
    const { head } = await exchange('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: the best\r\n\r\n');
    assert.match(head, /^HTTP\/1.1 200 /);
  });

  test('a refusal before a large body arrives, and the connection closes', async () => {
    const client = httpRequest(server.url, {
      method: 'POST',
      headers: { 'Content-Length': 20_000_000 },
    });
    client.on('error', () => {});
    client.end(Buffer.alloc(20_000_000));
    const [response]: [IncomingMessage] = (await once(client, 'response')) as [IncomingMessage];
    assert.equal(response.statusCode, 413);
    assert.equal(response.headers.connection, 'close');
    assert.equal(JSON.parse(await text(response)).code, 'payload_too_large');
  });
});
