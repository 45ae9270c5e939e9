import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMetrics } from '@recordbus/process/metrics';
import { fixedSettings } from '@recordbus/settings/testing';
import { eventually } from '@recordbus/testing';
import { declare, testService } from './test-service.ts';
import { createTestGateway, inProcess, quiet, serve } from './topologies.ts';

test('an answer counts under its route, and a rate-limited one under its rule too', async () => {
  const records = testService('records', quiet, [declare('GET', '/api/v1/:collection')]);
  const settings = fixedSettings({
    'rate_limit.rules': JSON.stringify([{ label: '/api/v1/posts', max: 2, windowMs: 60_000 }]),
  });
  const gateway = createTestGateway({ log: quiet, settings, upstreams: [inProcess(records)] });
  await using running = await serve(gateway);
  const { url } = running;
  for (const path of ['/api/v1/posts', '/api/v1/tags', '/api/v1/posts', '/api/v1/posts', '/no/such/path', '/healthz'])
    await (await fetch(url + path)).text();

  const samplesOf = async (name: string) => {
    const families = await readMetrics(gateway.metrics);
    return families.flatMap(({ samples }) => samples).filter((sample) => sample.name === name);
  };
  const counts = async () =>
    Object.fromEntries(
      (await samplesOf('recordbus_http_request_duration_seconds_count')).map(
        ({ labels: { method, route, status }, value }) => [`${method} ${route} ${status}`, value],
      ),
    );
  await eventually(async () => Object.keys(await counts()).length === 3);
  assert.deepEqual(await counts(), {
    'GET /api/v1/:collection 200': 3,
    'GET /api/v1/:collection 429': 1,
    'GET none 404': 1,
  });
  const limited = await samplesOf('recordbus_rate_limited_total');
  assert.deepEqual(
    limited.map(({ labels, value }) => [labels.rule, value]),
    [['/api/v1/posts', 1]],
  );
});
