import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics, exposition, type Metrics, mergeMetrics, readMetrics, sampledGauge } from './index.ts';

/** Returns the gateway's exposition of these processes, after serialization. */
async function textOf(processes: Readonly<Record<string, Metrics>>): Promise<string> {
  const instances = Object.entries(processes).map(async ([instance, metrics]) => ({
    instance,
    families: JSON.parse(JSON.stringify(await readMetrics(metrics))),
  }));
  return exposition(mergeMetrics(await Promise.all(instances)));
}

test("services' and replicas' metrics become one text, each value with its service and instance", async () => {
  const [records, one, two] = ['records', 'webhooks', 'webhooks'].map(createMetrics);
  assert.ok(records && one && two);
  for (const [metrics, count] of [
    [records, 1],
    [one, 2],
    [two, 3],
  ] as const) {
    metrics.counter('recordbus_test_total', 'Things.', ['result']).inc({ result: 'ok' }, count);
    sampledGauge(metrics, { name: 'recordbus_test_waiting', help: 'Waiting.', sample: () => count, isShared: true });
    sampledGauge(metrics, { name: 'recordbus_test_under_way', help: 'In progress.', sample: async () => count });
  }
  one.duration('recordbus_test_seconds', 'How long.').observe(0.2);
  const text = await textOf({ a: records, b: one, c: two });
  for (const line of [
    'recordbus_test_total{result="ok",service="records",instance="a"} 1',
    'recordbus_test_total{result="ok",service="webhooks",instance="b"} 2',
    'recordbus_test_total{result="ok",service="webhooks",instance="c"} 3',
    'recordbus_test_waiting{service="webhooks"} 3',
    'recordbus_test_under_way{service="webhooks",instance="c"} 3',
    'recordbus_test_seconds_count{service="webhooks",instance="b"} 1',
    'recordbus_test_seconds_bucket{le="0.25",service="webhooks",instance="b"} 1',
    'recordbus_test_seconds_bucket{le="+Inf",service="webhooks",instance="b"} 1',
  ])
    assert.ok(text.split('\n').includes(line), `${line}\nin\n${text}`);
  assert.equal(text.match(/^# TYPE recordbus_test_total counter$/gm)?.length, 1);
});

test('a gauge that fails has no value, and the others are read', async () => {
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
  const textNow = () => textOf({ a: metrics });
  assert.match(await textNow(), /^recordbus_test_lag\{service="webhooks",instance="a"\} 7$/m);
  isKnown = false;
  const text = await textNow();
  assert.doesNotMatch(text, /^recordbus_test_lag\{/m);
  assert.match(text, /^recordbus_test_total\{service="webhooks",instance="a"\} 1$/m);
});

test('labels and help are escaped, and the text stays valid if two versions give a name different types', async () => {
  const [older, newer] = ['records', 'records'].map(createMetrics);
  assert.ok(older && newer);
  older.counter('recordbus_test_total', 'Back\\slash\nand line.', ['name']).inc({ name: 'a "b"\\\n' });
  newer.duration('recordbus_test_total', 'Something else.').observe(1);
  assert.equal(
    await textOf({ a: older, b: newer }),
    [
      '# HELP recordbus_test_total Back\\\\slash\\nand line.',
      '# TYPE recordbus_test_total counter',
      'recordbus_test_total{name="a \\"b\\"\\\\\\n",service="records",instance="a"} 1',
      '',
    ].join('\n'),
  );
});
