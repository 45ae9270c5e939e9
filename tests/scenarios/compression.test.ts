import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const decoders = { br: brotliDecompressSync, gzip: gunzipSync };

onEachTopology('JSON answers are compressed for clients that accept it', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'letters',
    type: 'base',
    fields: [{ name: 'body', type: 'text' }],
    list_rule: null,
    view_rule: null,
    create_rule: null,
  });
  const small = await admin.create('letters', { body: 'short' });
  const large = await admin.create('letters', { body: 'long '.repeat(2000) });
  const largePath = `/api/v1/letters/${large.id}`;

  interface Answer {
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly bytes: Buffer;
  }

  async function get(
    path: string,
    acceptEncoding?: string,
    {
      method = 'GET',
      headers = {},
      body,
    }: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string } = {},
  ): Promise<Answer> {
    const sent = request(target.url + path, {
      method,
      headers: { ...headers, ...(acceptEncoding !== undefined && { 'Accept-Encoding': acceptEncoding }) },
    }).end(body);
    const [answer] = await once(sent, 'response');
    return { status: answer.statusCode, headers: answer.headers, bytes: await buffer(answer) };
  }

  for (const [acceptEncoding, coding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0.1, gzip;q=0.2', 'gzip'],
    ['*', 'br'],
  ] as const)
    await t.test(`${acceptEncoding} gets ${coding} [http §3.7]`, async () => {
      for (const path of [largePath, '/api/v1/letters', '/api/v1/openapi.json']) {
        const plain = await get(path);
        const coded = await get(path, acceptEncoding);
        assert.equal(coded.headers['content-encoding'], coding, path);
        assert.ok(coded.bytes.length < plain.bytes.length, path);
        assert.equal(Number(coded.headers['content-length']), coded.bytes.length);
        assert.deepEqual(JSON.parse(decoders[coding](coded.bytes).toString()), JSON.parse(plain.bytes.toString()));
        assert.equal(coded.headers['content-type'], plain.headers['content-type']);
        for (const { headers } of [plain, coded]) {
          assert.match(headers.vary ?? '', /\bOrigin\b/);
          assert.match(headers.vary ?? '', /\bAccept-Encoding\b/);
        }
      }
    });

  await t.test("a HEAD has its GET's headers [http §3.7]", async () => {
    const head = await get(largePath, 'gzip', { method: 'HEAD' });
    const whole = await get(largePath, 'gzip');
    for (const name of ['content-encoding', 'content-length', 'vary', 'etag'])
      assert.equal(head.headers[name], whole.headers[name], name);
    assert.equal(head.bytes.length, 0);
  });

  await t.test("a compressed answer's ETag works in conditions [http §3.7]", async () => {
    const { etag = '' } = (await get(largePath, 'gzip')).headers;
    assert.match(etag, /^W\//);
    const known = await get(largePath, 'gzip', { headers: { 'If-None-Match': etag } });
    assert.deepEqual([known.status, known.headers['content-encoding']], [304, undefined]);
    assert.match(known.headers.vary ?? '', /Accept-Encoding/);
    const changed = await admin.send('PATCH', largePath, { body: {}, headers: { 'If-Match': etag } });
    assert.equal(changed.status, 200);
    const document = await get('/api/v1/openapi.json', 'br');
    assert.match(document.headers.etag ?? '', /^W\//);
    const again = await get('/api/v1/openapi.json', 'br', {
      headers: { 'If-None-Match': document.headers.etag ?? '' },
    });
    assert.equal(again.status, 304);
  });

  await t.test('these answers stay as they are [http §3.7]', async () => {
    assert.equal((await get(`/api/v1/letters/${small.id}`, 'gzip')).headers['content-encoding'], undefined);
    for (const acceptEncoding of [
      undefined,
      'identity',
      'gzip;q=0',
      'deflate',
      'br;q=0, gzip;q=0',
      'identity, gzip;q=0.5',
    ])
      assert.equal((await get(largePath, acceptEncoding)).headers['content-encoding'], undefined, acceptEncoding);
    assert.equal((await get(`${largePath}?${'x'.repeat(4000)}=`, 'gzip')).status, 200);
    for (const path of ['/api/v1/admin/settings', '/api/v1/admin/settings/groups', '/api/v1/admin/keys']) {
      const answer = await admin.send('GET', path, { headers: { 'Accept-Encoding': 'gzip, br' } });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['content-encoding'], undefined, path);
    }
  });

  await t.test('an answer to a write is compressed too [http §3.7]', async () => {
    const answer = await get('/api/v1/letters', 'gzip', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ body: 'long '.repeat(2000) }),
    });
    assert.deepEqual([answer.status, answer.headers['content-encoding']], [201, 'gzip']);
    assert.equal(textAt(JSON.parse(gunzipSync(answer.bytes).toString()), 'data.body'), 'long '.repeat(2000));
  });

  await runScenarios(t, target, [
    {
      name: 'a wrong setting',
      as: 'admin',
      request: 'PATCH /api/v1/admin/settings',
      body: { 'http.compression': 'yes' },
      expect: refused.naming('http.compression'),
      spec: 'http §3.7',
    },
  ]);

  await t.test('the setting ends it [http §3.7]', async () => {
    await admin.patch('/api/v1/admin/settings', { 'http.compression': '0' });
    await eventually('answers are no longer compressed', async () => {
      const { headers } = await get(largePath, 'gzip');
      return headers['content-encoding'] === undefined && headers.vary === 'Origin';
    });
    await admin.patch('/api/v1/admin/settings', { 'http.compression': '' });
  });
});
