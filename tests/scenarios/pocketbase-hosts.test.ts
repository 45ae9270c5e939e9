import assert from 'node:assert/strict';
import { type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { eventually } from '../harness/eventually.ts';
import { followedEverywhere } from '../harness/stacks/followed-settings.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { ourSide } from '../pocketbase-clients/ours.ts';
import { castOf, password } from '../pocketbase-clients/side.ts';

const host = 'app.example.com';
const origin = 'https://shop.example.com';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Sent {
  readonly host?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Sends a request to a host that has no address: `fetch` sets its own Host. */
function send(url: string, path: string, sent: Sent = {}): Promise<Answer> {
  const headers = {
    host: sent.host ?? host,
    ...(sent.body && { 'content-type': 'application/json' }),
    ...sent.headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(path, url), { method: sent.method ?? 'GET', headers, setHost: false });
    outgoing.on('error', reject);
    outgoing.on('response', (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode, headers: answer.headers, body }), reject);
    });
    outgoing.end(sent.body && JSON.stringify(sent.body));
  });
}

onEachTopology("an app's earlier address answers as PocketBase", async (t, target) => {
  await castOf(ourSide(target));
  const { url } = target;
  const admin = followedEverywhere(await target.admin());
  const isPocketBase = async (sent: Sent = {}) =>
    (await send(url, '/api/health', sent)).body.includes('API is healthy');
  const paths = ['/', '/_/', '/_/portal', '/healthz', '/api', '/api/v1/records/tags', '/api/v1/openapi.json'];
  const statuses = () => Promise.all(paths.map(async (path) => `${path} ${(await send(url, path)).status}`));
  const before = await statuses();
  assert.equal(await isPocketBase(), false);
  await admin.patch('/api/v1/admin/settings', { 'pocketbase.hosts': `${host},other.example.com:8090` });
  await eventually('the setting', isPocketBase);

  await t.test('only on the named hosts, with their ports', async () => {
    for (const name of [host, `${host}:80`, `${host}:443`, 'APP.example.COM', 'other.example.com:8090'])
      assert.equal(await isPocketBase({ host: name }), true, name);
    for (const name of [
      'example.com',
      `x.${host}`,
      `${host}:8090`,
      'other.example.com',
      `${host}.example.com`,
      'localhost',
    ])
      assert.equal(await isPocketBase({ host: name }), false, name);
  });

  await t.test('and the pages and the own API stay where they are', async () => {
    assert.deepEqual(await statuses(), before);
    assert.equal((await send(url, '/api/v1')).status, 404);
    assert.match((await send(url, '/api/v1/records/tags')).body, /"totalItems":0/);
  });

  await t.test('an account signs in there, and its token works at every address', async () => {
    const { status, body } = await send(url, '/api/collections/users/auth-with-password', {
      method: 'POST',
      body: { identity: 'alice@example.com', password },
    });
    assert.equal(status, 200);
    const headers = { authorization: String(JSON.parse(body).token) };
    const own = '/api/collections/users/records?fields=name';
    for (const [path, name] of [
      [own, host],
      [`/pb${own}`, host],
      [`/pb${own}`, 'localhost'],
    ] as const)
      assert.match((await send(url, path, { host: name, headers })).body, /"items":\[\{"name":"alice"\}\]/);
  });

  await t.test('a stream opens there', async () => {
    const outgoing = request(new URL('/api/realtime', url), { headers: { host }, setHost: false }).end();
    const first = await new Promise<string>((resolve, reject) => {
      outgoing.on('error', reject);
      outgoing.on('response', (answer) => answer.once('data', (chunk: Buffer) => resolve(String(chunk))));
    });
    assert.match(first, /^event:PB_CONNECT$/m);
    outgoing.on('error', () => {}).destroy();
  });

  await t.test('browsers on allowed origins may call it', async () => {
    await admin.patch('/api/v1/admin/settings', { 'cors.origins': origin });
    const allowed = async (path: string, from: string, sent: Sent = {}) =>
      (await send(url, path, { ...sent, headers: { ...sent.headers, origin: from } })).headers[
        'access-control-allow-origin'
      ];
    const list = '/api/collections/tags/records';
    await eventually('the setting', async () => (await allowed(list, origin)) === origin);
    const asked = {
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization,content-type',
    };
    assert.equal(await allowed(list, origin, { method: 'OPTIONS', headers: asked }), origin);
    const preflight = await send(url, list, { method: 'OPTIONS', headers: { ...asked, origin } });
    assert.match(String(preflight.headers['access-control-allow-methods']), /PATCH/);
    assert.match(String(preflight.headers['access-control-allow-headers']), /Authorization, Content-Type/);
    for (const path of ['/api/health', '/api/collections/nothing/records', '/api/nothing', `${list}?filter=x`])
      assert.equal(await allowed(path, origin), origin, path);
    const wrongTopics = { method: 'POST', body: { clientId: 'x' } };
    assert.equal(await allowed('/api/realtime', origin, wrongTopics), origin);
    for (const path of ['/api/health', list]) assert.equal(await allowed(path, 'https://evil.example.com'), undefined);
  });

  await t.test('every spelling of a path counts for the same rate limit', async () => {
    const rules = [{ label: '/api/v1/records/tags:list', max: 5, windowMs: 60_000, audience: 'all' }];
    await admin.patch('/api/v1/admin/settings', {
      'rate_limit.enabled': '1',
      'rate_limit.rules': JSON.stringify(rules),
    });
    const spellings = ['/api/collections/tags/records', '/pb/api/collections/tags/records', '/api/v1/records/tags'];
    const seen: (number | undefined)[] = [];
    await eventually('429 for each spelling', async () => {
      const answers = await Promise.all(spellings.map(async (path) => (await send(url, path)).status));
      seen.push(...answers);
      return answers.every((status) => status === 429);
    });
    assert.ok(seen.filter((status) => status === 200).length <= 5, seen.join());
    assert.equal((await send(url, '/api/collections/posts/records')).status, 200);
    await admin.patch('/api/v1/admin/settings', { 'rate_limit.enabled': '0', 'rate_limit.rules': '' });
  });
});
