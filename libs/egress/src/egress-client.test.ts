import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { EgressBlockedError } from './egress-error.ts';
import { checkUrl } from './resolve-target.ts';
import { denyAll, good, plain, rules, startClient } from './test-client.ts';
import { startReceiver } from './test-receiver.ts';

const denied: LookupAddress = { address: '::1', family: 6 };

describe('a request', () => {
  test('sends method, headers and body as given and does not request compression', async (t) => {
    let seen: unknown;
    const receiver = await startReceiver(t, async (req, res) => {
      const body = (await req.toArray()).join('');
      seen = { method: req.method, url: req.url, body, headers: req.headers };
      res.writeHead(201, { 'x-answer': 'yes' }).end('thanks');
    });
    const answer = await startClient(t).request(`${receiver.url}?a=1`, {
      ...plain,
      headers: [
        ['content-type', 'application/json'],
        ['X-Custom', 'ä'],
      ],
    });
    assert.equal(answer.status, 201);
    assert.equal(answer.headers['x-answer'], 'yes');
    assert.equal(Buffer.from(answer.body).toString(), 'thanks');
    assert.equal(answer.truncated, false);
    assert.deepEqual(seen, {
      method: 'POST',
      url: '/hook?a=1',
      body: '{}',
      headers: {
        host: `127.0.0.1:${receiver.port}`,
        connection: 'keep-alive',
        'content-type': 'application/json',
        'x-custom': 'ä',
        'content-length': '2',
      },
    });
  });

  test('does not follow a redirect', async (t) => {
    const requested: (string | undefined)[] = [];
    const receiver = await startReceiver(t, (req, res) => {
      requested.push(req.url);
      res.writeHead(307, { location: '/elsewhere' }).end();
    });
    const answer = await startClient(t).request(receiver.url, plain);
    assert.equal(answer.status, 307);
    assert.deepEqual(requested, ['/hook']);
  });

  test("returns the final status, not an early hint's", async (t) => {
    const receiver = await startReceiver(t, (_req, res) => {
      res.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => res.writeHead(202).end('ok'));
    });
    assert.equal((await startClient(t).request(receiver.url, plain)).status, 202);
  });

  test('sends a header with any name', async (t) => {
    const receiver = await startReceiver(t, ({ rawHeaders }, res) => res.end(JSON.stringify(rawHeaders)));
    const headers = ['__proto__', 'constructor', 'toString'].map((name) => [name, 'a'] as const);
    const { body } = await startClient(t).request(receiver.url, { ...plain, headers });
    const sent: string[] = JSON.parse(Buffer.from(body).toString());
    for (const [name] of headers) assert.equal(sent[sent.indexOf(name) + 1], 'a', name);
  });

  test('does not decompress a body', async (t) => {
    const zipped = gzipSync('x'.repeat(100_000));
    const receiver = await startReceiver(t, (_req, res) => {
      res.writeHead(200, { 'content-encoding': 'gzip' }).end(zipped);
    });
    const answer = await startClient(t).request(receiver.url, plain);
    assert.deepEqual(Buffer.from(answer.body), zipped);
  });

  const refused: readonly (readonly [name: string, value: string, message: string])[] = [
    ['X-A', 'a\r\nX-Injected: 1', 'header X-A has a line break or control character'],
    ['X-A', 'a\nb', 'header X-A has a line break or control character'],
    ['X-A', 'a\0b', 'header X-A has a line break or control character'],
    ['X-A\r\nX-B', 'b', 'header name "X-A\\r\\nX-B" is not valid'],
    ['Host', 'internal', 'header Host may not be set'],
    ['content-length', '0', 'header content-length may not be set'],
    ['Transfer-Encoding', 'chunked', 'header Transfer-Encoding may not be set'],
  ];
  for (const [name, value, message] of refused) {
    test(`refuses header ${JSON.stringify(name)}: ${JSON.stringify(value)}`, async (t) => {
      const receiver = await startReceiver(t, (_req, res) => res.end());
      await assert.rejects(startClient(t).request(receiver.url, { ...plain, headers: [[name, value]] }), { message });
      assert.equal(receiver.sockets.length, 0);
    });
  }

  test('refuses URLs with credentials or another scheme', async (t) => {
    const client = startClient(t);
    await assert.rejects(client.request('http://a:b@127.0.0.1/', plain), { message: 'URL carries credentials' });
    await assert.rejects(client.request('ftp://127.0.0.1/', plain), { code: 'ERR_INVALID_URL' });
  });
});

describe('the filter [webhooks §7.2]', () => {
  const literals = ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '169.254.169.254'];
  for (const host of literals) {
    test(`blocks the literal ${host}`, async (t) => {
      const receiver = await startReceiver(t, (_req, res) => res.end());
      const client = startClient(t, { rules: () => denyAll });
      await assert.rejects(client.request(`http://${host}:${receiver.port}/`, plain), (error) => {
        assert.ok(error instanceof EgressBlockedError);
        assert.match(error.message, /^egress blocked: /);
        return true;
      });
      assert.equal(receiver.sockets.length, 0);
    });
  }

  test('blocks names for the loopback address', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end());
    const client = startClient(t, { rules: () => denyAll });
    for (const host of ['localhost', 'localhost.']) {
      await assert.rejects(client.request(`http://${host}:${receiver.port}/`, plain), EgressBlockedError);
    }
    assert.equal(receiver.sockets.length, 0);
  });

  test('connects to the checked address, even if the name then resolves to another one', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end('reached'));
    let lookups = 0;
    const lookup = async () => (lookups++ === 0 ? [good] : [denied]);
    const client = startClient(t, { lookup });
    const answer = await client.request(`http://rebind.test:${receiver.port}/`, plain);
    assert.equal(Buffer.from(answer.body).toString(), 'reached');
    assert.equal(lookups, 1);
    client.reset();
    await assert.rejects(client.request(`http://rebind.test:${receiver.port}/`, plain), {
      message: 'egress blocked: rebind.test is ::1, which lies in the denied range ::1/128',
    });
  });

  test('blocks a name that passes the first check and resolves to a denied address at connect', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end());
    let lookups = 0;
    const lookup = async () => (lookups++ === 0 ? [good] : [denied]);
    const url = `http://rebind.test:${receiver.port}/`;
    await checkUrl(rules, url, lookup);
    await assert.rejects(startClient(t, { lookup }).request(url, plain), EgressBlockedError);
    assert.equal(receiver.sockets.length, 0);
  });

  test('blocks a name with one denied address among good ones', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end());
    const client = startClient(t, { lookup: async () => [good, denied] });
    await assert.rejects(client.request(`http://mixed.test:${receiver.port}/`, plain), EgressBlockedError);
    assert.equal(receiver.sockets.length, 0);
  });

  test('reports a name that does not resolve as a failure, not as blocked', async (t) => {
    const failure = Object.assign(new Error('getaddrinfo ENOTFOUND nowhere.test'), { code: 'ENOTFOUND' });
    const client = startClient(t, { lookup: () => Promise.reject(failure) });
    await assert.rejects(client.request('http://nowhere.test/', plain), {
      name: 'EgressFailedError',
      message: 'host name does not resolve (ENOTFOUND)',
    });
  });
});
