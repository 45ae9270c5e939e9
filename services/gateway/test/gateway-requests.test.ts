import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeGateway, sendHead, sendLine } from './gateway-fixture.ts';

describeGateway('heads of requests at the gateway', (fixture) => {
  test('headers that Connection names are removed, except end-to-end headers', async () => {
    const { port } = fixture();
    const head = (request: string, named: string) =>
      `${request} HTTP/1.1\r\nHost: example.com\r\nConnection: close, ${named}\r\nX-Private: 1\r\nX-Own: 1\r\n`;
    const seen = await sendHead(port, head('GET /api/v1/files/headers', 'x-private, Host'));
    assert.match(seen, /^HTTP\/1.1 200 [\s\S]*"x-own":"1"/);
    assert.match(seen, /"host":"example.com"/);
    assert.doesNotMatch(seen, /"x-private":/);
    const typed = 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
    const posted = await sendHead(port, `${head('POST /api/v1/posts', 'Content-Type, content-length')}${typed}`);
    assert.match(posted, /^HTTP\/1.1 200 /);
  });

  test('a request and an answer with the largest allowed head pass', async () => {
    const { port } = fixture();
    const head = `GET /api/v1/files/headers HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\nX-Own: `;
    const whole = `${head}${'x'.repeat(128 * 1024 - head.length - 20)}\r\n`;
    assert.match(await sendHead(port, whole), /^HTTP\/1.1 200 /);
    assert.match(await sendLine(port, 'GET /api/v1/files/large-head HTTP/1.1'), /X-Large: x{100000}\r\n/i);
  });

  test('a request with Expect: 100-continue is refused before its body when the head suffices', async () => {
    const { port } = fixture();
    const head = (path: string, more: string) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 9\r\nExpect: 100-continue\r\n${more}`;
    assert.match(await sendHead(port, head('/api/v1/files/closed', '')), /^HTTP\/1.1 401 /);
    assert.match(await sendHead(port, head('/nowhere', '')), /^HTTP\/1.1 404 /);
  });

  test('a body in an unsupported transfer coding is 400', async () => {
    const { port } = fixture();
    const head = 'POST /api/v1/posts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n';
    const sent = `${head}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n`;
    assert.match(await sendHead(port, sent), /^HTTP\/1.1 400 [\s\S]*Transfer-Encoding/);
  });

  test('a target that is not a path is 400; the absolute form is accepted', async () => {
    const { port } = fixture();
    for (const target of ['/api/v1/%zz', '/api/v1/posts/%E0%A4%A', '/api/v1/posts#top', '*'])
      assert.match(await sendLine(port, `GET ${target} HTTP/1.1`), /^HTTP\/1.1 400 [\s\S]*malformed_request/, target);
    for (const target of ['http://example.com/api/v1/posts?page=1', 'HTTP://example.com:80/api/v1/posts'])
      assert.match(await sendLine(port, `GET ${target} HTTP/1.1`), /^HTTP\/1.1 200 /, target);
    // The path is `/`, which no service behind this gateway has.
    for (const target of ['http://example.com', 'http://example.com?/api/v1/posts'])
      assert.match(await sendLine(port, `GET ${target} HTTP/1.1`), /^HTTP\/1.1 404 [\s\S]*not_found/, target);
    assert.match(await sendLine(port, 'GET //api/v1/posts HTTP/1.1'), /^HTTP\/1.1 404 /);
    assert.match(await sendLine(port, 'OPTIONS * HTTP/1.1'), /^HTTP\/1.1 204 /);
  });

  test('an HTTP/1.1 request must name exactly one host', async () => {
    const { port } = fixture();
    const send = (head: string) => sendHead(port, `${head}Connection: close\r\n`);
    for (const hosts of ['', 'Host: a\r\nhost: b\r\n']) {
      const refused = await send(`GET /healthz HTTP/1.1\r\n${hosts}`);
      assert.match(refused, /^HTTP\/1.1 400 [\s\S]*malformed_request/, hosts);
      for (const header of ['X-Request-Id', 'X-Frame-Options', 'Vary'])
        assert.match(refused, new RegExp(`${header}: `));
    }
    assert.match(await send('GET /healthz HTTP/1.0\r\n'), /^HTTP\/1.1 200 /);
  });
});
