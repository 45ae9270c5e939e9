import assert from 'node:assert/strict';
import { request } from 'node:http';
import { createClient } from '@recordbus/client';
import { file } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { fileField, png, upload } from './file-forms.ts';

interface Got {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

/** Sends a request with its own `Host`, which `fetch` does not allow. */
function get(baseUrl: string, path: string, headers: Record<string, string>, method = 'GET'): Promise<Got> {
  const { promise, resolve, reject } = Promise.withResolvers<Got>();
  const sending = request(new URL(path, baseUrl), { method, headers }, (answer) => {
    let text = '';
    answer.on('data', (chunk) => {
      text += String(chunk);
    });
    answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
  });
  sending.on('error', reject).end();
  return promise;
}

onEachTopology('files have their own host [files §4.6]', async (t, target) => {
  const { url: baseUrl } = target;
  const admin = await target.admin();
  await admin.define('papers', [fileField('cover'), fileField('secret', { oneTimeToken: true })]);
  const record = await upload(
    admin,
    '/api/v1/papers',
    file('cover', 'a.png', png, 'image/png'),
    file('secret', 's.txt', 'x'),
  );
  const path = (field: string) => `/api/v1/files/papers/${record.id}/${record[field]}`;
  const policyOf = ({ headers }: Got) => String(headers['content-security-policy']);
  const host = 'files.example.com';
  const setHost = async (text: string): Promise<void> => {
    await admin.patch('/api/v1/admin/settings', { 'files.host': text });
    const expected = text === '' ? 200 : 404;
    await eventually(
      'the gateway has the setting',
      async () => (await get(baseUrl, path('cover'), {})).status === expected,
    );
  };

  await t.test('without the setting every file is sandboxed [files §4.2]', async () => {
    for (const query of ['', '?thumb=100x100', '?download=1'])
      assert.match(policyOf(await get(baseUrl, `${path('cover')}${query}`, {})), /; sandbox$/, query);
    const part = await get(baseUrl, path('cover'), { Range: 'bytes=0-3' });
    assert.deepEqual([part.status, policyOf(part).endsWith('; sandbox')], [206, true]);
  });

  await setHost(host);

  await t.test('only this host serves files and previews, without a sandbox', async () => {
    for (const Host of [host, 'FILES.example.com', `${host}:443`, `${host}:80`])
      for (const way of [path('cover'), path('cover').replace('/v1', ''), `${path('cover')}?thumb=100x100`]) {
        const answer = await get(baseUrl, way, { Host });
        assert.equal(answer.status, 200, `${Host} ${way}: ${answer.text}`);
        assert.doesNotMatch(policyOf(answer), /sandbox/);
      }
    assert.equal((await get(baseUrl, path('cover'), { Host: host }, 'HEAD')).status, 200);
    for (const Host of [new URL(baseUrl).host, 'example.com', `x.${host}`, `${host}:8443`, `${host}.`])
      for (const way of [path('cover'), path('cover').replace('/v1', ''), `${path('cover')}?thumb=100x100`]) {
        const answer = await get(baseUrl, way, { Host });
        assert.equal(answer.status, 404, `${Host} ${way}`);
        const { error, code, details } = JSON.parse(answer.text);
        assert.deepEqual(
          { error, code, details },
          { error: `files are served at ${host}`, code: 'not_found', details: { host } },
        );
      }
  });

  await t.test('this host serves nothing else', async () => {
    const paths = [
      '/',
      '/_/',
      '/docs',
      '/healthz',
      '/readyz',
      '/api/v1/health',
      '/api/v1/papers',
      '/api/v1/openapi.json',
      '/api/v1/nothing',
    ];
    for (const way of paths) {
      const answer = await get(baseUrl, way, { Host: host });
      assert.equal(answer.status, 404, `${way}: ${answer.text}`);
      assert.doesNotMatch(answer.text, /<html/);
    }
    for (const method of ['POST', 'PATCH', 'PUT', 'DELETE'])
      assert.ok(
        [404, 405].includes((await get(baseUrl, '/api/v1/files/token', { Host: host }, method)).status ?? 0),
        method,
      );
    const socket = {
      Host: host,
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    assert.equal((await get(baseUrl, '/api/v1/realtime', socket)).status, 404);
  });

  await t.test("the API's token works once on the other host [files §7.4]", async () => {
    const wanted = { collection: 'papers', id: record.id, filename: record.secret };
    const { json } = await admin.send('POST', '/api/v1/files/token', { body: wanted });
    const way = `${path('secret')}?token=${textAt(json, 'data.token')}`;
    assert.equal((await get(baseUrl, way, {})).status, 404);
    assert.deepEqual(
      [(await get(baseUrl, way, { Host: host })).text, (await get(baseUrl, way, { Host: host })).status],
      ['x', 410],
    );
  });

  await t.test('pages from every origin may read it, the admin pages included', async () => {
    const Origin = 'https://admin.example.com';
    const answer = await get(baseUrl, path('cover'), { Host: host, Origin });
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    assert.equal(answer.headers['access-control-allow-credentials'], undefined);
    const preflight = await get(
      baseUrl,
      path('cover'),
      { Host: host, Origin, 'Access-Control-Request-Method': 'GET' },
      'OPTIONS',
    );
    assert.match(String(preflight.headers['access-control-allow-headers']), /Authorization/);
    assert.equal((await get(baseUrl, '/api/v1/health', { Origin })).headers['access-control-allow-origin'], undefined);
    assert.match(policyOf(await get(baseUrl, '/_/', {})), /connect-src 'self' files\.example\.com;/);
  });

  await t.test('the client follows to the host, and builds its URLs by filesUrl', async () => {
    const other = new URL(baseUrl).host.replace(/^[^:]+/, (name) => (name === 'localhost' ? '127.0.0.1' : 'localhost'));
    await setHost(other);
    const client = createClient(baseUrl);
    const stored = client.from('papers').file(record as { id: string }, 'cover');
    assert.equal((await stored?.fetch())?.status, 200);
    const secret = client.from('papers').file(record as { id: string }, 'secret');
    assert.equal(await (await secret?.fetch())?.text(), 'x');
    const filesUrl = `http://${other}`;
    const direct = createClient(baseUrl, { filesUrl })
      .from('papers')
      .file(record as { id: string }, 'cover');
    assert.ok(direct?.url().startsWith(`${filesUrl}/api/v1/files/papers/`));
    assert.equal((await fetch(String(await direct?.signedUrl()))).status, 200);
  });

  await t.test('a wrong host is refused [settings]', async () => {
    const { status, json } = await admin.send('PATCH', '/api/v1/admin/settings', {
      body: { 'files.host': 'https://files.example.com' },
    });
    assert.equal(status, 422);
    assert.match(String(Reflect.get(Object(at(json, 'details')), 'files.host')), /must be a host such as/);
    await setHost('');
  });
});
