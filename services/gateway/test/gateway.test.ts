import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextHeader, type Principal } from '@recordbus/request/context';
import { describeGateway, sendHead } from './gateway-fixture.ts';
import { contextSigner, signer } from './topologies.ts';

const admin = { type: 'admin', id: 'a1', email: 'root@example.com' } as const;

interface Context {
  requestId: string;
  traceparent: string;
  clientAddress: string;
  principal: Principal;
}

const contextOf = async (response: Response) =>
  ((await response.json()) as { data: { context: Context } }).data.context;

describeGateway('the gateway', (fixture) => {
  test('a request reaches the service that declared its route, with a context', async () => {
    const { get } = fixture();
    const response = await get('/api/v1/posts?page=1', { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` });
    assert.equal(response.status, 200);
    const context = await contextOf(response);
    assert.equal(context.requestId, response.headers.get('x-request-id'));
    assert.equal(context.clientAddress, '127.0.0.1');
    assert.equal(context.traceparent, `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`);
    assert.deepEqual(context.principal, { type: 'guest', rejectedToken: false });
  });

  test('every answer has the security headers and none names the software', async () => {
    const { get } = fixture();
    for (const path of ['/api/v1/posts', '/nowhere', '/healthz']) {
      const { headers } = await get(path);
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
      assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
      assert.equal(headers.get('x-frame-options'), 'DENY', path);
      assert.equal(headers.get('x-powered-by'), null, path);
    }
  });

  test('a valid request id is kept, any other is replaced', async () => {
    const { get } = fixture();
    const echoed = async (id: string) => (await get('/nowhere', { 'X-Request-Id': id })).headers.get('x-request-id');
    for (const valid of ['a', 'trace 7/b', 'x'.repeat(128)]) assert.equal(await echoed(valid), valid);
    for (const invalid of ['', 'x'.repeat(129), 'tab\there', 'ümlaut'])
      assert.match((await echoed(invalid)) ?? '', /^[0-9a-f]{8}-[0-9a-f-]{27}$/, invalid);
  });

  test('the principal comes from the bearer token; an invalid token makes a guest', async () => {
    const { get } = fixture();
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

  test("a client's credentials and context do not pass the gateway", async () => {
    const { get } = fixture();
    const forged = contextSigner.sign(
      { requestId: 'x', traceparent: '', principal: admin, clientAddress: '' },
      { method: 'GET', url: '/api/v1/posts' },
    );
    const headers = { [contextHeader]: forged, Authorization: 'Bearer x' };
    assert.deepEqual((await contextOf(await get('/api/v1/posts', headers))).principal.type, 'guest');
    const seen = (await (await get('/api/v1/files/headers', headers)).json()) as Record<string, string>;
    assert.notEqual(seen[contextHeader], forged);
    assert.equal(seen.authorization, undefined);
  });

  test('headers pass both ways', async () => {
    const { get } = fixture();
    const response = await get('/api/v1/files/headers', { 'If-None-Match': 'W/"1"', 'X-Own': 'ü' });
    assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2']);
    assert.equal(response.headers.get('etag'), 'W/"1"');
    const seen = (await response.json()) as Record<string, string>;
    assert.equal(seen['if-none-match'], 'W/"1"');
    assert.equal(seen['x-own'], 'ü');
  });

  test('all of 1,500 headers are forwarded', async () => {
    const { port } = fixture();
    const many = Array.from({ length: 1500 }, (_, index) => `X-H${index}: 1\r\n`).join('');
    const head = 'GET /api/v1/files/headers HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n';
    assert.match(await sendHead(port, head + many), /"x-h1499":"1"/);
  });

  test('an unknown route is 404; another method is 405 with Allow, even where a parameter would match', async () => {
    const { url, get } = fixture();
    const unknown = await get('/api/v2/posts/1/2/3');
    assert.equal(unknown.status, 404);
    assert.deepEqual(await unknown.json(), { error: 'route not found', code: 'not_found' });
    const refused = await fetch(`${url}/api/v1/posts/1`, { method: 'PUT' });
    assert.equal(refused.status, 405);
    assert.equal(refused.headers.get('allow'), 'GET, HEAD');
    assert.equal((await get('/api/v1/admin/login')).status, 405);
    assert.equal((await get('/internal/manifest')).status, 404);
  });

  test('a refusal without a body to wait for keeps the connection open', async () => {
    const { get } = fixture();
    assert.equal((await get('/nowhere')).headers.get('connection'), 'keep-alive');
  });

  test('HEAD works like GET, without a body', async () => {
    const { url } = fixture();
    const response = await fetch(`${url}/api/v1/posts`, { method: 'HEAD' });
    assert.equal(response.status, 200);
    assert.ok(Number(response.headers.get('content-length')) > 0);
    assert.equal(await response.text(), '');
  });

  test('OPTIONS is answered with 204', async () => {
    const { url } = fixture();
    for (const path of ['/api/v1/posts', '/nowhere'])
      assert.equal((await fetch(url + path, { method: 'OPTIONS' })).status, 204);
  });

  test('health names every service', async () => {
    const { get } = fixture();
    assert.equal((await get('/healthz')).status, 200);
    const readyz = await get('/readyz');
    assert.equal(readyz.status, 200);
    const checks = { records: 'ok', auth: 'ok', background: 'ok' };
    assert.deepEqual(await readyz.json(), { data: { status: 'ready', checks } });
    const health = (await (await get('/api/v1/health')).json()) as { data: Record<string, unknown> };
    assert.match(String(health.data.version), /^\d+\.\d+\.\d+$/);
    assert.deepEqual(health.data.services, { gateway: 'ok', records: 'ok', auth: 'ok' });
    assert.equal(health.data.status, 'ok');
  });
});
