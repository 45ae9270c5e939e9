import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '@recordbus/http/service';
import { createMetrics, sampledGauge } from '@recordbus/process/metrics';
import { fixedSettings } from '@recordbus/settings/testing';
import { httpUpstream } from '../src/upstream/http-upstream.ts';
import { declare, testService } from './test-service.ts';
import { bus, contextSigner, createTestGateway, inProcess, quiet, serve, serveAlone } from './topologies.ts';

/** Creates a replica with its own counter and a gauge that all replicas share. */
function replicaOf(name: string, count: number): Service {
  const metrics = createMetrics(name);
  metrics.counter('recordbus_things_total', 'Things.').inc(count);
  sampledGauge(metrics, { name: 'recordbus_queue', help: 'Queue.', sample: () => 7, isShared: true });
  return { ...testService(name, quiet, [declare('GET', `/api/v1/${name}`)]), metrics };
}

test('one scrape covers every replica, even those that do not answer', async () => {
  const first = await serveAlone(replicaOf('records', 1), 0, '127.0.0.1');
  const second = await serveAlone(replicaOf('records', 2), first.port, '127.0.0.2');
  const records = httpUpstream({
    name: 'records',
    url: `http://records.test:${first.port}`,
    contextSigner,
    bus,
    log: quiet,
    answerTimeoutMs: 1000,
    resolve: async () => ['127.0.0.1', '127.0.0.2', '127.0.0.3'],
  });
  const nowhere = { name: 'mail', url: 'http://mail.test:8080', contextSigner, bus, log: quiet, answerTimeoutMs: 1000 };
  const mail = httpUpstream({ ...nowhere, resolve: () => Promise.reject(new Error('no such name')) });
  const settings = fixedSettings({ 'metrics.enabled': '1' });
  const upstreams = [records, mail, inProcess(replicaOf('auth', 3))];
  const gateway = await serve(createTestGateway({ log: quiet, settings, upstreams }), [first, second]);
  try {
    const lines = (await (await fetch(`${gateway.url}/api/v1/metrics`)).text()).split('\n');
    assert.deepEqual(lines.filter((line) => /^recordbus_(up|things_total|queue)\{/.test(line)).sort(), [
      'recordbus_queue{service="auth"} 7',
      'recordbus_queue{service="records"} 7',
      'recordbus_things_total{service="auth"} 3',
      `recordbus_things_total{service="records",instance="127.0.0.1:${first.port}"} 1`,
      `recordbus_things_total{service="records",instance="127.0.0.2:${first.port}"} 2`,
      'recordbus_up{service="auth"} 1',
      'recordbus_up{service="gateway"} 1',
      'recordbus_up{service="mail",instance="mail.test:8080"} 0',
      `recordbus_up{service="records",instance="127.0.0.1:${first.port}"} 1`,
      `recordbus_up{service="records",instance="127.0.0.2:${first.port}"} 1`,
      `recordbus_up{service="records",instance="127.0.0.3:${first.port}"} 0`,
    ]);
  } finally {
    await gateway.stop();
  }
});
