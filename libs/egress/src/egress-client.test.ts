import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createEgressClient, type EgressClientOptions, type EgressRequestOptions } from './egress-client.ts';
import { EgressBlockedError } from './egress-error.ts';
import { parseEgressRules } from './egress-rules.ts';
import { checkUrl } from './resolve-target.ts';
import { startReceiver, until } from './test-receiver.ts';

/** In these tests 127.0.0.1 stands for a public address; everything else on the loopback stays denied. */
const rules = parseEgressRules({ deny: '', allow: '127.0.0.1' });
const denyAll = parseEgressRules({ deny: '', allow: '' });
const good: LookupAddress = { address: '127.0.0.1', family: 4 };
const denied: LookupAddress = { address: '::1', family: 6 };
const plain: EgressRequestOptions = { body: '{}', timeoutMs: 5_000, maxBodyBytes: 1_000 };

function startClient(t: TestContext, options: Partial<EgressClientOptions> = {}) {
  const client = createEgressClient({ rules: () => rules, ...options });
  t.after(() => client.close());
  return client;
}

/** A gate that a test opens when it is ready. */
function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

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
    const asked: (string | undefined)[] = [];
    const receiver = await startReceiver(t, (req, res) => {
      asked.push(req.url);
      res.writeHead(307, { location: '/elsewhere' }).end();
    });
    const answer = await startClient(t).request(receiver.url, plain);
    assert.equal(answer.status, 307);
    assert.deepEqual(asked, ['/hook']);
  });

  test('returns the final status, not that of an early hint', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => {
      res.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => res.writeHead(202).end('ok'));
    });
    assert.equal((await startClient(t).request(receiver.url, plain)).status, 202);
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

  test('blocks names of the loopback', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end());
    const client = startClient(t, { rules: () => denyAll });
    for (const host of ['localhost', 'localhost.']) {
      await assert.rejects(client.request(`http://${host}:${receiver.port}/`, plain), EgressBlockedError);
    }
    assert.equal(receiver.sockets.length, 0);
  });

  test('connects to the checked address, even if the name then resolves to another', async (t) => {
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

describe('the deadline', () => {
  const impatient = { ...plain, timeoutMs: 200 };
  const expected = { message: 'timeout after 200 ms', code: 'EGRESS_TIMEOUT' };

  test('ends the wait for a server that hangs', async (t) => {
    const receiver = await startReceiver(t, () => {});
    await assert.rejects(startClient(t).request(receiver.url, impatient), expected);
    await until('the hanging socket is closed', () => receiver.openSockets() === 0);
  });

  test('ends a body that arrives byte by byte', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => {
      res.writeHead(200);
      const drip = setInterval(() => res.write('.'), 10);
      res.on('close', () => clearInterval(drip));
    });
    const startedAt = performance.now();
    await assert.rejects(startClient(t).request(receiver.url, impatient), expected);
    assert.ok(performance.now() - startedAt < 1_000);
    await until('the dripping socket is closed', () => receiver.openSockets() === 0);
  });

  test('covers the lookup, and a request that timed out during it is never sent', async (t) => {
    const asked: (string | undefined)[] = [];
    const gate = createGate();
    const lookup = () => gate.opened.then(() => [good]);
    const receiver = await startReceiver(t, (req, res) => {
      asked.push(req.url);
      res.end();
    });
    const client = startClient(t, { lookup, maxSocketsPerOrigin: 1 });
    const url = `http://slow.test:${receiver.port}/`;
    await assert.rejects(client.request(`${url}first`, impatient), expected);
    gate.open();
    await client.request(`${url}second`, plain);
    assert.deepEqual(asked, ['/second']);
  });

  test('covers the wait for a socket, and a request that timed out during it is never sent', async (t) => {
    const asked: (string | undefined)[] = [];
    const gate = createGate();
    const receiver = await startReceiver(t, async (req, res) => {
      asked.push(req.url);
      await gate.opened;
      res.end();
    });
    const client = startClient(t, { maxSocketsPerOrigin: 1 });
    const first = client.request(receiver.url, plain);
    await assert.rejects(client.request(`${receiver.url}/2`, impatient), expected);
    gate.open();
    await first;
    await client.request(`${receiver.url}/3`, plain);
    assert.deepEqual(asked, ['/hook', '/hook/3']);
  });
});

describe('the limit of the body', () => {
  test('neither keeps nor awaits the rest of an answer of 100 MB', async (t) => {
    const chunk = Buffer.alloc(1_000_000, 'x');
    const receiver = await startReceiver(t, (_req, res) => {
      let left = 100;
      const more = () => {
        while (left-- > 0) if (!res.write(chunk)) return;
        res.end();
      };
      res.on('drain', more);
      more();
    });
    const answer = await startClient(t).request(receiver.url, plain);
    assert.equal(answer.status, 200);
    assert.equal(answer.truncated, true);
    assert.equal(answer.body.length, plain.maxBodyBytes);
    await until('the socket is closed', () => receiver.openSockets() === 0);
    assert.ok((receiver.sockets[0]?.bytesWritten ?? 0) < 50_000_000);
  });

  test('does not await the end of a slow body once the limit is reached', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => void res.write('x'.repeat(1_000)));
    const answer = await startClient(t).request(receiver.url, plain);
    assert.equal(answer.body.length, 1_000);
    assert.equal(answer.truncated, true);
  });

  test('returns a body of exactly the limit whole', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end('x'.repeat(1_000)));
    const answer = await startClient(t).request(receiver.url, plain);
    assert.equal(answer.body.length, 1_000);
    assert.equal(answer.truncated, false);
  });

  test('cuts an answer that is slightly over the limit and keeps its socket', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end('x'.repeat(3_000)));
    const client = startClient(t, { maxSocketsPerOrigin: 1 });
    for (let i = 0; i < 3; i++) {
      const answer = await client.request(receiver.url, plain);
      assert.equal(answer.body.length, 1_000);
      assert.equal(answer.truncated, true);
    }
    assert.equal(receiver.sockets.length, 1);
  });

  test('of 0 keeps nothing and does not wait for the body', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.flushHeaders());
    const answer = await startClient(t).request(receiver.url, { ...plain, maxBodyBytes: 0 });
    assert.deepEqual([answer.status, answer.body.length, answer.truncated], [200, 0, true]);
  });
});

describe('broken connections', () => {
  test('refused', async (t) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    await new Promise((resolve) => server.close(resolve));
    await assert.rejects(startClient(t).request(`http://127.0.0.1:${address.port}/`, plain), {
      message: 'connection refused (ECONNREFUSED)',
    });
  });

  test('reset', async (t) => {
    const receiver = await startReceiver(t, (req) => void req.socket.resetAndDestroy());
    await assert.rejects(startClient(t).request(receiver.url, plain), {
      message: 'connection reset by the receiver (ECONNRESET)',
    });
  });

  test('closed in the middle of the body', async (t) => {
    const receiver = await startReceiver(t, (req, res) => {
      res.writeHead(200, { 'content-length': '100' });
      res.write('half', () => req.socket.end());
    });
    await assert.rejects(
      startClient(t).request(receiver.url, plain),
      /connection closed before the answer was complete/,
    );
  });

  test('something that does not speak HTTP', async (t) => {
    const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    await assert.rejects(
      startClient(t).request(`http://127.0.0.1:${address.port}/`, plain),
      /^EgressFailedError: answer is not valid HTTP/,
    );
  });

  test('a failed request leaves the client usable', async (t) => {
    let requests = 0;
    const receiver = await startReceiver(t, (req, res) => {
      if (requests++ === 0) req.socket.resetAndDestroy();
      else res.end();
    });
    const client = startClient(t, { maxSocketsPerOrigin: 1 });
    await assert.rejects(client.request(receiver.url, plain));
    assert.equal((await client.request(receiver.url, plain)).status, 200);
  });
});

describe('connections', () => {
  test('one socket serves many requests with one lookup', async (t) => {
    let lookups = 0;
    const receiver = await startReceiver(t, (_req, res) => res.end('ok'));
    const client = startClient(t, {
      lookup: async () => {
        lookups++;
        return [good];
      },
      maxSocketsPerOrigin: 1,
    });
    for (let i = 0; i < 20; i++) await client.request(`http://warm.test:${receiver.port}/`, plain);
    assert.equal(receiver.sockets.length, 1);
    assert.equal(lookups, 1);
  });

  test('an origin gets no more sockets than the limit', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => void setImmediate(() => res.end()));
    const client = startClient(t, { maxSocketsPerOrigin: 3 });
    await Promise.all(Array.from({ length: 50 }, () => client.request(receiver.url, plain)));
    assert.ok(receiver.sockets.length <= 3, `${receiver.sockets.length} sockets`);
  });

  test('a socket past its lifetime gets no new request', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end());
    const client = startClient(t, { socketLifetimeMs: 60_000, maxSocketsPerOrigin: 1 });
    await client.request(receiver.url, plain);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_001 });
    await client.request(receiver.url, plain);
    assert.equal(receiver.sockets.length, 2);
  });

  test('reset() closes the kept-alive sockets', async (t) => {
    const receiver = await startReceiver(t, (_req, res) => res.end());
    const client = startClient(t);
    await client.request(receiver.url, plain);
    assert.equal(receiver.openSockets(), 1);
    client.reset();
    // Earlier than the 4 s after which an idle socket closes by itself.
    await until('the kept-alive socket is closed', () => receiver.openSockets() === 0, 2_000);
    await client.request(receiver.url, plain);
    assert.equal(receiver.sockets.length, 2);
  });

  test('after reset() sent requests finish, and waiting requests are checked by the new rules', async (t) => {
    const gate = createGate();
    const asked: (string | undefined)[] = [];
    const receiver = await startReceiver(t, async (req, res) => {
      asked.push(req.url);
      await gate.opened;
      res.end();
    });
    let current = rules;
    const client = startClient(t, { rules: () => current, maxSocketsPerOrigin: 1 });
    const sent = client.request(`${receiver.url}/sent`, plain);
    const waiting = client.request(`${receiver.url}/waiting`, plain);
    await until('the first request has arrived', () => asked.length === 1);
    current = denyAll;
    client.reset();
    gate.open();
    assert.equal((await sent).status, 200);
    await assert.rejects(waiting, EgressBlockedError);
    assert.deepEqual(asked, ['/hook/sent']);
  });

  test('after reset() a connection that opened under the old rules is not used', async (t) => {
    const asked: (string | undefined)[] = [];
    const receiver = await startReceiver(t, (req, res) => {
      asked.push(req.url);
      res.end();
    });
    const gate = createGate();
    let lookups = 0;
    let current = rules;
    const client = startClient(t, {
      rules: () => current,
      lookup: async () => {
        lookups++;
        await gate.opened;
        return [good];
      },
    });
    const request = client.request(`http://slow.test:${receiver.port}/`, plain);
    const outcome = assert.rejects(request, EgressBlockedError);
    await until('the lookup has begun', () => lookups === 1);
    current = denyAll;
    client.reset();
    gate.open();
    await outcome;
    assert.equal(lookups, 2);
    assert.deepEqual(asked, []);
  });

  test('close() does not wait for a connection that no request needs', async (t) => {
    const client = startClient(t, { lookup: () => new Promise(() => {}), connectTimeoutMs: 500 });
    await assert.rejects(client.request('http://hole.test/', { ...plain, timeoutMs: 50 }), { code: 'EGRESS_TIMEOUT' });
    const startedAt = performance.now();
    await client.close();
    assert.ok(performance.now() - startedAt < 300);
  });

  test('close() waits for requests in flight and refuses later ones', async (t) => {
    const gate = createGate();
    const receiver = await startReceiver(t, async (_req, res) => {
      await gate.opened;
      res.end('late');
    });
    const client = createEgressClient({ rules: () => rules });
    const answer = client.request(receiver.url, plain);
    const closing = client.close();
    await assert.rejects(client.request(receiver.url, plain), { code: 'EGRESS_CLOSED' });
    gate.open();
    assert.equal(Buffer.from((await answer).body).toString(), 'late');
    await closing;
    await client.close();
    await until('every socket is closed', () => receiver.openSockets() === 0);
  });
});
