import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { contextHeader, type Principal } from '@recordbus/shared/context';
import { eventually } from './eventually.ts';
import { declare, testService } from './test-service.ts';
import { quiet, type RunningGateway, sealer, signer, topologies } from './topologies.ts';

const admin = { type: 'admin', id: 'a1', email: 'root@example.com' } as const;
const mebibyte = 1024 * 1024;
/** Far more than the garbage of streaming, so that a buffered body would show. */
const streamedMebibytes = 120;

for (const [name, start] of Object.entries(topologies))
  describe(`the gateway with its services ${name}`, () => {
    let gateway: RunningGateway;
    /** Whether the service saw the client disconnect. */
    let aborted = false;
    const records = testService(
      'records',
      quiet,
      [
        declare('GET', '/api/v1/:collection'),
        declare('POST', '/api/v1/:collection'),
        declare('GET', '/api/v1/:collection/:id'),
        declare('POST', '/api/v1/files/upload', 300 * mebibyte),
        declare('GET', '/api/v1/files/download'),
        declare('GET', '/api/v1/files/slow'),
        declare('GET', '/api/v1/files/headers'),
        { ...declare('POST', '/api/v1/files/closed'), access: 'admin' },
        declare('GET', '/api/v1/files/large-head'),
        declare('GET', '/api/v1/files/broken'),
      ],
      {
        '/api/v1/files/upload': async (request, response) => {
          const hash = createHash('sha256');
          for await (const chunk of request) hash.update(chunk);
          response.end(hash.digest('hex'));
        },
        '/api/v1/files/download': (_, response) => {
          Readable.from(zeros(streamedMebibytes)).pipe(response);
        },
        '/api/v1/files/slow': (_, response) => {
          aborted = false;
          response.once('close', () => {
            aborted = !response.writableFinished;
          });
          response.write('begun');
        },
        '/api/v1/files/headers': (request, response) => {
          response.setHeader('Set-Cookie', ['a=1', 'b=2']);
          response.setHeader('ETag', 'W/"1"');
          response.end(JSON.stringify(request.headers));
        },
        '/api/v1/files/large-head': (_, response) => {
          response.setHeader('X-Large', 'x'.repeat(100_000));
          response.end();
        },
        '/api/v1/files/broken': (_, response) => {
          response.writeHead(200, { 'Content-Length': 100 });
          response.write('half', () => response.destroy());
        },
      },
    );
    const auth = testService('auth', quiet, [
      declare('POST', '/api/v1/admin/login'),
      declare('GET', '/api/v1/admin/me'),
    ]);

    before(async () => {
      gateway = await start([records, auth]);
    });
    after(() => gateway.stop());

    const get = (path: string, headers: Record<string, string> = {}) => fetch(gateway.url + path, { headers });
    const contextOf = async (response: Response) =>
      ((await response.json()) as { data: { context: Context } }).data.context;
    interface Context {
      requestId: string;
      traceparent: string;
      clientAddress: string;
      principal: Principal;
    }

    test('a request reaches the service that declared its route, with the context of the gateway', async () => {
      const response = await get('/api/v1/posts?page=1', { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` });
      assert.equal(response.status, 200);
      const context = await contextOf(response);
      assert.equal(context.requestId, response.headers.get('x-request-id'));
      assert.equal(context.clientAddress, '127.0.0.1');
      assert.equal(context.traceparent, `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`);
      assert.deepEqual(context.principal, { type: 'guest', rejectedToken: false });
    });

    test('every answer has the security headers and none names the software', async () => {
      for (const path of ['/api/v1/posts', '/nowhere', '/healthz']) {
        const { headers } = await get(path);
        assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
        assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
        assert.equal(headers.get('x-frame-options'), 'DENY', path);
        assert.equal(headers.get('x-powered-by'), null, path);
      }
    });

    test('a valid request id is kept, any other is replaced', async () => {
      const echoed = async (id: string) => (await get('/nowhere', { 'X-Request-Id': id })).headers.get('x-request-id');
      for (const valid of ['a', 'trace 7/b', 'x'.repeat(128)]) assert.equal(await echoed(valid), valid);
      for (const invalid of ['', 'x'.repeat(129), 'tab\there', 'ümlaut'])
        assert.match((await echoed(invalid)) ?? '', /^[0-9a-f]{8}-[0-9a-f-]{27}$/, invalid);
    });

    test('the principal comes from the bearer token; an invalid token makes a guest', async () => {
      const token = await signer.signSession({ principal: admin, tokenVersion: 0, windowSec: 60 });
      for (const scheme of ['Bearer', 'bearer']) {
        const response = await get('/api/v1/posts', { Authorization: `${scheme} ${token}` });
        assert.deepEqual((await contextOf(response)).principal, admin);
      }
      for (const bad of ['Bearer nonsense', `Bearer ${token}x`, `Basic ${token}`, token, 'Bearer'])
        assert.deepEqual((await contextOf(await get('/api/v1/posts', { Authorization: bad }))).principal, {
          type: 'guest',
          rejectedToken: true,
        });
    });

    test('credentials and a context from outside end at the gateway', async () => {
      const forged = sealer.seal({ requestId: 'x', traceparent: '', principal: admin, clientAddress: '' });
      const headers = { [contextHeader]: forged, Authorization: 'Bearer x' };
      assert.deepEqual((await contextOf(await get('/api/v1/posts', headers))).principal.type, 'guest');
      const seen = (await (await get('/api/v1/files/headers', headers)).json()) as Record<string, string>;
      assert.notEqual(seen[contextHeader], forged);
      assert.equal(seen.authorization, undefined);
    });

    test('headers pass both ways', async () => {
      const response = await get('/api/v1/files/headers', { 'If-None-Match': 'W/"1"', 'X-Own': 'ü' });
      assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2']);
      assert.equal(response.headers.get('etag'), 'W/"1"');
      const seen = (await response.json()) as Record<string, string>;
      assert.equal(seen['if-none-match'], 'W/"1"');
      assert.equal(seen['x-own'], 'ü');
    });

    test('headers that Connection names are removed, except end-to-end headers', async () => {
      const head = (request: string, named: string) =>
        `${request} HTTP/1.1\r\nHost: example.com\r\nConnection: close, ${named}\r\nX-Private: 1\r\nX-Own: 1\r\n`;
      const seen = await sendHead(gateway.port, head('GET /api/v1/files/headers', 'x-private, Host'));
      assert.match(seen, /^HTTP\/1.1 200 [\s\S]*"x-own":"1"/);
      assert.match(seen, /"host":"example.com"/);
      assert.doesNotMatch(seen, /"x-private":/);
      const typed = 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
      const posted = await sendHead(
        gateway.port,
        `${head('POST /api/v1/posts', 'Content-Type, content-length')}${typed}`,
      );
      assert.match(posted, /^HTTP\/1.1 200 /);
    });

    test('the largest head that the gateway reads reaches the service, and one as large comes back', async () => {
      const head = `GET /api/v1/files/headers HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\nX-Own: `;
      const whole = `${head}${'x'.repeat(128 * 1024 - head.length - 20)}\r\n`;
      assert.match(await sendHead(gateway.port, whole), /^HTTP\/1.1 200 /);
      assert.match(await exchange(gateway.port, 'GET /api/v1/files/large-head HTTP/1.1'), /X-Large: x{100000}\r\n/i);
    });

    test('every header is forwarded, however many there are', async () => {
      const many = Array.from({ length: 1500 }, (_, index) => `X-H${index}: 1\r\n`).join('');
      const head = 'GET /api/v1/files/headers HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n';
      assert.match(await sendHead(gateway.port, head + many), /"x-h1499":"1"/);
    });

    test('an unknown route is 404, another method 405 with Allow, also where a parameter would match', async () => {
      const unknown = await get('/api/v2/posts/1/2/3');
      assert.equal(unknown.status, 404);
      assert.deepEqual(await unknown.json(), { error: 'route not found', code: 'not_found' });
      const refused = await fetch(`${gateway.url}/api/v1/posts/1`, { method: 'PUT' });
      assert.equal(refused.status, 405);
      assert.equal(refused.headers.get('allow'), 'GET, HEAD');
      assert.equal((await get('/api/v1/admin/login')).status, 405);
      assert.equal((await get('/internal/manifest')).status, 404);
    });

    test('a refusal keeps the connection when there is no body to wait for', async () => {
      assert.equal((await get('/nowhere')).headers.get('connection'), 'keep-alive');
    });

    test('HEAD works wherever GET does and has no body', async () => {
      const response = await fetch(`${gateway.url}/api/v1/posts`, { method: 'HEAD' });
      assert.equal(response.status, 200);
      assert.ok(Number(response.headers.get('content-length')) > 0);
      assert.equal(await response.text(), '');
    });

    test('OPTIONS is answered with 204', async () => {
      for (const path of ['/api/v1/posts', '/nowhere'])
        assert.equal((await fetch(gateway.url + path, { method: 'OPTIONS' })).status, 204);
    });

    test('a body whose declared length is too large is refused before it is read', async () => {
      const client = httpRequest(`${gateway.url}/api/v1/posts`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Content-Length': 10 * mebibyte },
      });
      client.on('error', () => {});
      client.write('{');
      const [response] = (await once(client, 'response')) as [IncomingMessage];
      assert.equal(response.statusCode, 413);
      client.destroy();
    });

    test('a request with Expect: 100-continue is refused before its body, when the head suffices', async () => {
      const head = (path: string, more: string) =>
        `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 9\r\nExpect: 100-continue\r\n${more}`;
      assert.match(await sendHead(gateway.port, head('/api/v1/files/closed', '')), /^HTTP\/1.1 401 /);
      assert.match(await sendHead(gateway.port, head('/nowhere', '')), /^HTTP\/1.1 404 /);
    });

    test('a body in an unsupported transfer coding is 400', async () => {
      const head = 'POST /api/v1/posts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n';
      const sent = `${head}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n`;
      assert.match(await sendHead(gateway.port, sent), /^HTTP\/1.1 400 [\s\S]*Transfer-Encoding/);
    });

    test('a target that is not a path is 400, the absolute form is a path', async () => {
      for (const target of ['/api/v1/%zz', '/api/v1/posts/%E0%A4%A', '/api/v1/posts#top', '*'])
        assert.match(
          await exchange(gateway.port, `GET ${target} HTTP/1.1`),
          /^HTTP\/1.1 400 [\s\S]*malformed_request/,
          target,
        );
      for (const target of ['http://example.com/api/v1/posts?page=1', 'HTTP://example.com:80/api/v1/posts'])
        assert.match(await exchange(gateway.port, `GET ${target} HTTP/1.1`), /^HTTP\/1.1 200 /, target);
      for (const target of ['http://example.com', 'http://example.com?/api/v1/posts'])
        assert.match(
          await exchange(gateway.port, `GET ${target} HTTP/1.1`),
          /^HTTP\/1.1 200 [\s\S]*text\/html/,
          target,
        );
      assert.match(await exchange(gateway.port, 'GET //api/v1/posts HTTP/1.1'), /^HTTP\/1.1 404 /);
      assert.match(await exchange(gateway.port, 'OPTIONS * HTTP/1.1'), /^HTTP\/1.1 204 /);
    });

    test('a request names one host, unless it is HTTP/1.0', async () => {
      const send = (head: string) => sendHead(gateway.port, `${head}Connection: close\r\n`);
      for (const hosts of ['', 'Host: a\r\nhost: b\r\n']) {
        const refused = await send(`GET /healthz HTTP/1.1\r\n${hosts}`);
        assert.match(refused, /^HTTP\/1.1 400 [\s\S]*malformed_request/, hosts);
        for (const header of ['X-Request-Id', 'X-Frame-Options', 'Vary'])
          assert.match(refused, new RegExp(`${header}: `));
      }
      assert.match(await send('GET /healthz HTTP/1.0\r\n'), /^HTTP\/1.1 200 /);
    });

    test('an upload arrives as it was sent, declared or chunked', async () => {
      const bytes = randomBytes(5 * mebibyte);
      const expected = createHash('sha256').update(bytes).digest('hex');
      const declared = await fetch(`${gateway.url}/api/v1/files/upload`, { method: 'POST', body: bytes });
      assert.equal(await declared.text(), expected);
      const chunked = httpRequest(`${gateway.url}/api/v1/files/upload`, { method: 'POST' });
      Readable.from([bytes.subarray(0, 1000), bytes.subarray(1000)]).pipe(chunked);
      const [response] = (await once(chunked, 'response')) as [IncomingMessage];
      assert.equal(await text(response), expected);
    });

    test('a chunked body that grows too large is refused, and the client receives the refusal', async () => {
      const client = httpRequest(`${gateway.url}/api/v1/posts`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
      });
      client.on('error', () => {});
      Readable.from(zeros(8)).pipe(client);
      const [response] = (await once(client, 'response')) as [IncomingMessage];
      assert.equal(response.statusCode, 413);
      assert.equal(JSON.parse(await text(response)).code, 'payload_too_large');
    });

    test('large bodies stream both ways and are never buffered', async () => {
      const before = process.memoryUsage().rss;
      let highest = 0;
      const watch = setInterval(() => {
        highest = Math.max(highest, process.memoryUsage().rss);
      }, 5);
      const upload = httpRequest(`${gateway.url}/api/v1/files/upload`, {
        method: 'POST',
        headers: { 'Content-Length': streamedMebibytes * mebibyte },
      });
      Readable.from(zeros(streamedMebibytes)).pipe(upload);
      const [uploaded] = (await once(upload, 'response')) as [IncomingMessage];
      assert.equal(uploaded.statusCode, 200);
      uploaded.resume();
      const download = httpRequest(`${gateway.url}/api/v1/files/download`).end();
      const [downloaded] = (await once(download, 'response')) as [IncomingMessage];
      let received = 0;
      for await (const chunk of downloaded) received += chunk.length;
      clearInterval(watch);
      assert.equal(received, streamedMebibytes * mebibyte);
      assert.ok(
        highest - before < 0.8 * streamedMebibytes * mebibyte,
        `${Math.round((highest - before) / mebibyte)} MiB more`,
      );
    });

    test('the service learns that a client disconnected', async () => {
      const controller = new AbortController();
      const response = await fetch(`${gateway.url}/api/v1/files/slow`, { signal: controller.signal });
      const reader = response.body?.getReader();
      assert.equal(new TextDecoder().decode((await reader?.read())?.value), 'begun');
      controller.abort();
      await eventually(() => aborted);
    });

    test('an answer that breaks off also breaks off for the client', async () => {
      await assert.rejects(async () => (await get('/api/v1/files/broken')).text());
      assert.equal((await get('/api/v1/posts')).status, 200);
    });

    test('health names every service', async () => {
      assert.equal((await get('/healthz')).status, 200);
      const readyz = await get('/readyz');
      assert.equal(readyz.status, 200);
      assert.deepEqual(await readyz.json(), { data: { status: 'ready', checks: { records: 'ok', auth: 'ok' } } });
      const health = (await (await get('/api/v1/health')).json()) as { data: Record<string, unknown> };
      assert.match(String(health.data.version), /^\d+\.\d+\.\d+$/);
      assert.deepEqual(health.data.services, { gateway: 'ok', records: 'ok', auth: 'ok' });
      assert.equal(health.data.status, 'ok');
    });
  });

function* zeros(mebibytes: number): Generator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024);
  for (let sent = 0; sent < mebibytes * mebibyte; sent += chunk.length) yield chunk;
}

/** Sends a request line unchanged and returns the whole answer. */
const exchange = (port: number, requestLine: string): Promise<string> =>
  sendHead(port, `${requestLine}\r\nHost: example.com\r\nConnection: close\r\n`);

/** The same with headers, each with its line break. */
function sendHead(port: number, head: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${head}\r\n`);
  return text(socket);
}
