import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:http2';
import { after, suite, test } from 'node:test';
import { createClient } from './harness/clients/client.ts';
import { openLive } from './harness/clients/live-client.ts';
import { openSocket } from './harness/clients/live-socket.ts';
import { file, multipart } from './harness/clients/multipart.ts';
import { eventually } from './harness/eventually.ts';
import { listAt, objectAt, textAt } from './harness/json.ts';
import { missingProxy, type ProxyName, startDocumentedProxy } from './harness/network/documented-proxy.ts';
import { startStack } from './harness/stacks/stack.ts';

const proxies: readonly ProxyName[] = ['nginx', 'caddy'];
const megabytes = 1024 * 1024;
const dimensions = 4096;
/** nginx's default `proxy_read_timeout` is 60 s. A heartbeat arrives every 15 s. */
const heartbeats = 6;

const stack = await startStack({ topology: 'one', environment: { SERVICE_TRUSTED_PROXIES: '127.0.0.1/32' } });
after(() => stack.stop());
const admin = await stack.admin();
await admin.post('/api/v1/collections', {
  name: 'assets',
  type: 'base',
  list_rule: null,
  fields: [
    { name: 'title', type: 'text' },
    { name: 'data', type: 'file', options: { maxSize: 200 * megabytes } },
    { name: 'place', type: 'vector', options: { dimensions } },
  ],
});

const point = Array.from({ length: dimensions }, (_, index) => Math.sin(index));
const search = `/api/v1/assets?nearVectorField=place&nearLimit=1&nearVector=${encodeURIComponent(JSON.stringify(point))}`;
const { id: nearest } = await stack.guest.create('assets', { place: point });

// Both wait for the same heartbeats.
suite('behind a proxy', { concurrency: true }, () => {
  for (const name of proxies) {
    test(`behind ${name}, as docs/gateway.md sets it up [docs/gateway]`, { skip: missingProxy(name) }, async (t) => {
      await using proxy = await startDocumentedProxy(name, stack.url);
      const guest = createClient(proxy.url);
      // Opened first, so that the heartbeats arrive during the other tests.
      await using live = await openLive(proxy.url, [{ id: 'a', collection: 'assets' }]);
      assert.equal(live.status, 200, live.text);

      const content = Buffer.alloc(99 * megabytes, 'a line of text\n');
      await t.test('a 100 MB form arrives whole, and a range of its file comes back', async () => {
        const created = await guest.send('POST', '/api/v1/assets', multipart(file('data', 'a.txt', content)));
        assert.equal(created.status, 201, created.text);
        const { id, data } = objectAt(created.json, 'data');
        const path = `/api/files/assets/${id}/${data}`;
        const range = await guest.send('GET', path, { headers: { Range: 'bytes=50000000-50000099' } });
        assert.equal(range.status, 206);
        assert.equal(range.headers['content-range'], `bytes 50000000-50000099/${content.length}`);
        assert.equal(range.text, content.subarray(50_000_000, 50_000_100).toString());
        const whole = await guest.get(path);
        const digest = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
        assert.equal(digest(whole.text), digest(content));
      });

      const answers = { skip: name === 'caddy' && 'Caddy may reset the connection before the answer' };
      await t.test('a larger form is refused by the gateway, in JSON', answers, async () => {
        const tooLarge = multipart(file('data', 'b.txt', Buffer.alloc(100 * megabytes + 1)));
        const answer = await guest.send('POST', '/api/v1/assets', tooLarge);
        assert.equal(answer.status, 413);
        assert.equal(textAt(answer.json, 'code'), 'payload_too_large');
      });

      await t.test('a search with 4,096 dimensions is answered', async () => {
        const answer = await guest.get(search);
        assert.equal(answer.status, 200, answer.text.slice(0, 300));
        assert.equal(listAt(answer.json, 'data')[0]?.id, nearest);
      });
      await t.test('the same search over HTTP/2 and TLS is answered', async () => {
        const session = connect(proxy.tlsUrl, { ca: proxy.certificate, maxSendHeaderBlockLength: 256 * 1024 });
        const stream = session.request({ ':path': search }).setEncoding('utf8');
        stream.end();
        const [headers] = await once(stream, 'response');
        let text = '';
        for await (const chunk of stream) text += chunk;
        session.close();
        assert.equal(headers[':status'], 200, text.slice(0, 300));
        assert.equal(listAt(JSON.parse(text), 'data')[0]?.id, nearest);
      });

      await t.test('a page from the same origin opens a WebSocket, another page does not', async () => {
        await using socket = await openSocket(proxy.url, { headers: { Origin: proxy.url } });
        socket.send({ type: 'ping' });
        await socket.arrived('pong');
        await assert.rejects(openSocket(proxy.url, { headers: { Origin: 'http://127.0.0.1:1' } }), /refused with 403/);
      });

      await t.test("the gateway sees the client's address, not what it claims", async () => {
        const agent = `client behind ${name}`;
        // Another address on this machine than the proxy's.
        const outgoing = request(`${proxy.url}/api/v1/assets`, {
          localAddress: '127.0.0.2',
          headers: { 'User-Agent': agent, 'X-Forwarded-For': '203.0.113.9' },
        });
        outgoing.end();
        const [answer] = await once(outgoing, 'response');
        answer.resume();
        const row = await eventually('the request is logged', async () => {
          const { json } = await admin.get('/api/v1/admin/logs?perPage=100');
          return listAt(json, 'data').find(({ user_agent }) => user_agent === agent);
        });
        assert.equal(row.ip, '127.0.0.2');
      });

      await t.test('changes arrive after more than 80 s of heartbeats', async () => {
        await eventually(
          'the heartbeats have arrived',
          () => live.messages.filter(({ type }) => type === 'heartbeat').length >= heartbeats,
          {
            timeoutMs: 180_000,
          },
        );
        assert.equal(live.isClosed, false);
        const before = live.messages.filter(({ type }) => type === 'create').length;
        await stack.guest.create('assets', { title: 'late' });
        await live.arrived('create', before + 1);
      });
    });
  }
});
