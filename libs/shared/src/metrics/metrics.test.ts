import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics, exposition, readMetrics, sampledGauge } from './index.ts';

/** As it arrives at the gateway from another process. */
const overTheWire = async (metrics: ReturnType<typeof createMetrics>) =>
  JSON.parse(JSON.stringify(await readMetrics(metrics)));

test('services and their replicas become one text, each value under the name of its service', async () => {
  const [records, one, two] = ['records', 'webhooks', 'webhooks'].map(createMetrics);
  assert.ok(records && one && two);
  for (const [metrics, count] of [
    [records, 1],
    [one, 2],
    [two, 3],
  ] as const) {
    metrics.counter('recordbus_test_total', 'Things.', ['result']).inc({ result: 'ok' }, count);
    sampledGauge(metrics, { name: 'recordbus_test_waiting', help: 'Waiting.', sample: () => count, replicas: 'max' });
    sampledGauge(metrics, { name: 'recordbus_test_under_way', help: 'Under way.', sample: async () => count });
  }
  one.duration('recordbus_test_seconds', 'How long.').observe(0.2);
  const { contentType, text } = await exposition([
    await overTheWire(records),
    await overTheWire(one),
    await overTheWire(two),
  ]);
  assert.match(contentType, /^text\/plain; version=0\.0\.4/);
  for (const line of [
    'recordbus_test_total{result="ok",service="records"} 1',
    'recordbus_test_total{result="ok",service="webhooks"} 5',
    'recordbus_test_waiting{service="webhooks"} 3',
    'recordbus_test_under_way{service="webhooks"} 5',
    'recordbus_test_seconds_count{service="webhooks"} 1',
    'recordbus_test_seconds_bucket{le="0.25",service="webhooks"} 1',
  ])
    assert.ok(text.split('\n').includes(line), `${line}\nin\n${text}`);
  assert.equal(text.match(/^# TYPE recordbus_test_total counter$/gm)?.length, 1);
});

test('what can not be told has no value, and keeps nothing else from being read', async () => {
  const metrics = createMetrics('webhooks');
  let isKnown = true;
  sampledGauge(metrics, {
    name: 'recordbus_test_lag',
    help: 'Lag.',
    sample: async () => {
      if (!isKnown) throw new Error('the bus does not answer');
      return 7;
    },
  });
  metrics.counter('recordbus_test_total', 'Things.').inc();
  const textNow = async () => (await exposition([await overTheWire(metrics)])).text;
  assert.match(await textNow(), /^recordbus_test_lag\{service="webhooks"\} 7$/m);
  isKnown = false;
  const text = await textNow();
  assert.doesNotMatch(text, /^recordbus_test_lag\{/m);
  assert.match(text, /^recordbus_test_total\{service="webhooks"\} 1$/m);
});
