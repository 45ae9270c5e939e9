import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createContextSigner } from '@recordbus/request/context';
import { eventually } from '@recordbus/testing';
import { httpUpstream } from '../src/upstream/http-upstream.ts';
import { declare, testService } from './test-service.ts';
import {
  bus,
  contextSigner,
  createTestGateway,
  inProcess,
  quiet,
  secret,
  serve,
  serveAlone,
  signer,
} from './topologies.ts';
import { post, refusalOf, replica, routes, startGateway } from './upstream-fixture.ts';

async function readinessForAdmin(url: string): Promise<Record<string, string>> {
  const principal = { type: 'admin', id: 'a', email: 'a@example.com' } as const;
  const token = await signer.signSession({ principal, tokenVersion: 0, windowSec: 60 });
  const response = await fetch(`${url}/readyz`, { headers: { Authorization: `Bearer ${token}` } });
  return ((await response.json()) as { data: { checks: Record<string, string> } }).data.checks;
}

describe('a service that does not answer', () => {
  test('is 503 with Retry-After until it starts, and then its routes are known', async () => {
    await using service = await serveAlone(replica('one'));
    await service.close();
    await using gateway = await startGateway(service.url);
    const response = await fetch(`${gateway.url}/api/v1/posts`);
    assert.equal(response.headers.get('retry-after'), '1');
    assert.deepEqual(await refusalOf(response), [503, 'unavailable']);
    assert.equal((await fetch(`${gateway.url}/readyz`)).status, 503);
    assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200);

    await using _started = await serveAlone(replica('one'), service.port);
    await eventually(async () => (await fetch(`${gateway.url}/api/v1/posts`)).status === 200);
    assert.equal((await fetch(`${gateway.url}/nowhere`)).status, 404);
    await eventually(async () => (await fetch(`${gateway.url}/readyz`)).status === 200);
  });

  test('is 503 if it answered before, and serves again as soon as it is back', async () => {
    await using service = await serveAlone(replica('one'));
    await using gateway = await startGateway(service.url);
    assert.equal((await post(gateway.url)).status, 200);
    await service.close();
    for (const response of [await fetch(`${gateway.url}/api/v1/posts`), await post(gateway.url)])
      assert.deepEqual(await refusalOf(response), [503, 'unavailable']);
    const health = (await (await fetch(`${gateway.url}/api/v1/health`)).json()) as { data: object };
    assert.deepEqual(
      { ...health.data, version: '' },
      {
        status: 'degraded',
        version: '',
        services: { gateway: 'ok', records: 'unavailable' },
      },
    );
    await using _started = await serveAlone(replica('one'), service.port);
    assert.equal((await post(gateway.url)).status, 200);
  });

  test('leaves the gateway ready when it is the webhooks service', async () => {
    await using records = await serveAlone(replica('one'));
    await using gone = await serveAlone(testService('webhooks', quiet, []));
    const upstreams = [
      httpUpstream({ name: 'records', url: records.url, contextSigner, bus, log: quiet, answerTimeoutMs: 60_000 }),
      httpUpstream({ name: 'webhooks', url: gone.url, contextSigner, bus, log: quiet, answerTimeoutMs: 60_000 }),
    ];
    await using gateway = await serve(createTestGateway({ log: quiet, upstreams }), [records]);
    await gone.close();
    const readyz = await fetch(`${gateway.url}/readyz`);
    const { data } = (await readyz.json()) as { data: { checks: Record<string, string> } };
    assert.equal(readyz.status, 200);
    assert.equal(data.checks.webhooks, 'failing');
    assert.match((await readinessForAdmin(gateway.url)).webhooks ?? '', /ECONNREFUSED|closed/);
  });

  test('is 503 for its system paths, which never match collections', async () => {
    await using records = await serveAlone(replica('one'));
    await using gone = await serveAlone(testService('admin', quiet, []));
    await gone.close();
    const upstreams = [
      httpUpstream({ name: 'records', url: records.url, contextSigner, bus, log: quiet, answerTimeoutMs: 60_000 }),
      httpUpstream({ name: 'admin', url: gone.url, contextSigner, bus, log: quiet, answerTimeoutMs: 60_000 }),
    ];
    await using gateway = await serve(createTestGateway({ log: quiet, upstreams }), [records]);
    assert.equal((await fetch(`${gateway.url}/api/v1/posts`)).status, 200);
    for (const path of ['/api/v1/collections', '/api/v1/admin/me', '/nowhere'])
      assert.equal((await fetch(gateway.url + path)).status, 503, path);
    assert.equal((await fetch(`${gateway.url}/api/v1/%zz`)).status, 400);
  });
});

describe('a service alone in its process', () => {
  test('refuses callers other than the gateway', async () => {
    await using service = await serveAlone(replica('one'));
    const context = {
      requestId: 'x',
      traceparent: '',
      principal: { type: 'admin', id: 'a', email: 'a@example.com' } as const,
      clientAddress: '',
    };
    const request = { method: 'GET', url: '/api/v1/posts?page=1' };
    const forged = createContextSigner(Buffer.from('another secret with over 32 characters')).sign(context, request);
    const old = createContextSigner(secret, () => Date.now() - 5001).sign(context, request);
    const early = createContextSigner(secret, () => Date.now() + 60_000).sign(context, request);
    const ofOthers = [
      { ...request, method: 'POST' },
      { ...request, url: '/api/v1/posts' },
      { ...request, url: '/api/v1/posts?page=2' },
      { ...request, url: '/internal/metrics' },
    ].map((other) => contextSigner.sign(context, other));
    for (const header of [undefined, 'nonsense', forged, early, ...ofOthers]) {
      const response = await fetch(service.url + request.url, {
        headers: header === undefined ? {} : { 'x-recordbus-context': header },
      });
      assert.deepEqual(await refusalOf(response), [403, 'context_refused']);
    }
    const late = await fetch(service.url + request.url, { headers: { 'x-recordbus-context': old } });
    assert.deepEqual([late.headers.get('retry-after'), ...(await refusalOf(late))], ['1', 503, 'unavailable']);
  });

  test('has its routes reloaded immediately after a notice on the bus', async () => {
    const served = [declare('GET', '/api/v1/who')];
    const service = await serveAlone({ ...replica('one'), routes: served });
    const listeners = new Set<() => void>();
    const noticeBus: typeof bus = {
      onNotice(_topic, listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const gateway = await startGateway(service.url, { bus: noticeBus });
    assert.equal((await fetch(`${gateway.url}/api/v1/new`)).status, 404);
    served.push(declare('GET', '/api/v1/new'));
    for (const notify of listeners) notify();
    await eventually(async () => (await fetch(`${gateway.url}/api/v1/new`)).status !== 404);
    await service.close();
    await gateway.stop();
    assert.equal(listeners.size, 0);
  });

  test('is not ready with another secret, and admins see why', async () => {
    const other = createContextSigner(Buffer.from('another secret with over 32 characters'));
    await using service = await serveAlone(replica('one'));
    const upstream = httpUpstream({
      name: 'records',
      url: service.url,
      contextSigner: other,
      bus,
      log: quiet,
      answerTimeoutMs: 60_000,
    });
    await using gateway = await serve(createTestGateway({ log: quiet, upstreams: [upstream] }), [service]);
    const readyz = await fetch(`${gateway.url}/readyz`);
    const { data } = (await readyz.json()) as { data: { checks: Record<string, string> } };
    assert.equal(readyz.status, 503);
    assert.equal(data.checks.records, 'failing');
    assert.match((await readinessForAdmin(gateway.url)).records ?? '', /routes: not loaded yet/);
  });
});

test('the gateway does not start when two services declare the same route', async () => {
  const log = quiet;
  const upstreams = ['records', 'admin'].map((name) => inProcess(testService(name, log, routes)));
  await assert.rejects(createTestGateway({ log, upstreams }).start(), /GET \/api\/v1\/:collection is declared twice/);
});
