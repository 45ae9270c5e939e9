import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { createMetrics } from '@recordbus/process/metrics';
import { contextHeader, createContextSigner } from '@recordbus/request/context';
import { listen } from './server.ts';
import type { Service } from './service.ts';
import { createServiceApp } from './service-app.ts';

const contextSigner = createContextSigner(Buffer.alloc(32, 1));
const context = {
  requestId: 'test',
  traceparent: '',
  principal: { type: 'guest', rejectedToken: false },
  clientAddress: '127.0.0.1',
} as const;

test('internal paths answer only the gateway', async () => {
  const metrics = createMetrics('test');
  metrics.counter('recordbus_test_total', 'Things.').inc(3);
  const service: Service = {
    name: 'test',
    routes: [],
    handle: async () => {},
    checks: { database: async () => Promise.reject(new Error('connect ECONNREFUSED db.internal:5432')) },
    metrics,
    start: async () => {},
    stop: async () => {},
  };
  const app = createServiceApp(service, contextSigner, createLogger('test', 'silent'));
  const server = await listen(app, { port: 0, host: '127.0.0.1' });
  try {
    for (const path of ['/internal/metrics', '/internal/manifest'])
      assert.equal((await fetch(`${server.url}${path}`)).status, 403, path);
    const answer = await fetch(`${server.url}/internal/metrics`, {
      headers: { [contextHeader]: contextSigner.sign(context, { method: 'GET', url: '/internal/metrics' }) },
    });
    const { data } = (await answer.json()) as { data: { name: string; samples: unknown[] }[] };
    assert.deepEqual(
      data.map(({ name, samples }) => [name, samples]),
      [['recordbus_test_total', [{ name: 'recordbus_test_total', value: 3, labels: { service: 'test' } }]]],
    );
    assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
    const readiness = async (headers: Record<string, string>) =>
      ((await (await fetch(`${server.url}/readyz`, { headers })).json()) as { data: { checks: object } }).data.checks;
    const words = { database: 'failing', background: 'ok' };
    assert.deepEqual(await readiness({}), words);
    assert.deepEqual(await readiness({ [contextHeader]: 'forged' }), words);
    const signed = (url: string) => ({ [contextHeader]: contextSigner.sign(context, { method: 'GET', url }) });
    assert.match(JSON.stringify(await readiness(signed('/readyz'))), /db\.internal/);
    assert.deepEqual(await readiness(signed('/internal/metrics')), words, 'a context of another request');
    assert.equal(
      (await fetch(`${server.url}/internal/metrics`, { headers: signed('/internal/manifest') })).status,
      403,
    );
  } finally {
    await server.close();
  }
});
