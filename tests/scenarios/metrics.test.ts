import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.ts';
import { listAt, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { metricsIn, promqlExpressions } from '../harness/metrics/observability.ts';
import { type Family, lint, parsePrometheusText } from '../harness/metrics/prometheus-text.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { repository } from '../harness/stacks/stack.ts';
import { onEachTopology, replicaCount, type Target } from '../harness/stacks/target.ts';

const scrapePath = '/api/v1/metrics';
const services = ['admin', 'auth', 'gateway', 'realtime', 'records', 'webhooks'];
const token = 'scrape-me.9c1f';

/** Changes settings and waits until the gateway answers a scrape with this status. */
async function change(target: Target, settings: Record<string, string>, status: number): Promise<void> {
  await (await target.admin()).patch('/api/v1/admin/settings', settings);
  await eventually(`a scrape is ${status}`, async () => (await target.guest.get(scrapePath)).status === status);
}

async function scrape(target: Target): Promise<ReadonlyMap<string, Family>> {
  const { status, text } = await target.guest.get(scrapePath);
  assert.equal(status, 200, text);
  return parsePrometheusText(text);
}

/** Returns each metric's type and labels, including metrics without a value. */
async function listed(target: Target): Promise<Map<string, { type: string; labels: Set<string> }>> {
  const { json } = await (await target.admin()).get('/_/metrics');
  return new Map(
    listAt(json, 'data').map((family) => {
      const labels = listAt(family, 'samples').flatMap((sample) => Object.keys(objectAt(sample, 'labels')));
      return [textAt(family, 'name'), { type: textAt(family, 'type'), labels: new Set(labels) }];
    }),
  );
}

/** The metrics tables in the docs. */
function documentedMetrics(): Map<string, { type: string; labels: Set<string> }> {
  const text = readFileSync(join(repository, 'docs/observability.md'), 'utf8');
  return new Map(
    [...text.matchAll(/^\| `(\w+)` \| (\w+) \|([^|]*)\|/gm)].map(([, name = '', type = '', labels = '']) => [
      name,
      { type, labels: new Set(['service', 'instance', 'le', ...(labels.match(/[a-z_]+/g) ?? [])]) },
    ]),
  );
}

/** Whether each service is up; with several replicas, whether all are. */
const up = (families: ReadonlyMap<string, Family>): Record<string, number> =>
  Object.fromEntries(
    (families.get('recordbus_up')?.samples ?? [])
      .map(({ labels, value }) => [labels.service ?? '', value] as const)
      .sort(([a, isUp], [b, isOtherUp]) => (a === b ? isOtherUp - isUp : a < b ? -1 : 1)),
  );

onEachTopology('disabled metrics are not found', async (t, target) => {
  await change(target, { 'metrics.enabled': '', 'metrics.token': '' }, 404);
  await runScenarios(t, target, [
    { name: 'a scrape by a guest', request: `GET ${scrapePath}`, expect: refused.notFound, spec: 'operation §2.1' },
    {
      name: 'a scrape by an admin',
      as: 'admin',
      request: `GET ${scrapePath}`,
      expect: refused.notFound,
      spec: 'operation §2.1',
    },
    {
      name: 'JSON for an admin',
      as: 'admin',
      request: 'GET /_/metrics',
      expect: {
        status: 200,
        json: {
          data: is.listWith({
            name: 'recordbus_up',
            help: is.text,
            type: 'gauge',
            samples: is.listWith({
              name: 'recordbus_up',
              labels: { service: 'gateway' },
              value: 1,
            }),
          }),
        },
      },
      spec: 'operation §2.2',
    },
    {
      name: 'JSON for a user',
      as: 'user',
      request: 'GET /_/metrics',
      expect: refused.forbidden,
      spec: 'operation §2.2',
    },
    { name: 'JSON for a guest', request: 'GET /_/metrics', expect: refused.unauthenticated, spec: 'operation §2.2' },
  ]);
});

onEachTopology('enabled metrics', async (t, target) => {
  await change(target, { 'metrics.enabled': '1' }, 200);
  await t.test('cover every service in one text that Prometheus reads [operation §2.1]', async () => {
    const families = await scrape(target);
    assert.deepEqual(up(families), Object.fromEntries(services.map((service) => [service, 1])));
    assert.deepEqual(lint(families), []);
    for (const { name, samples } of families.values())
      for (const { labels } of samples) assert.ok(labels.service, `${name} without a service`);
    assert.ok(families.get('process_resident_memory_bytes')?.samples.every(({ value }) => value > 10_000_000));
    assert.ok(families.get('recordbus_bus_connected')?.samples.every(({ value }) => value === 1));
    assert.ok(families.get('recordbus_outbox_waiting'), 'a metric of a service is missing');
  });
  await t.test('count requests by route, never by path', async () => {
    const admin = await target.admin();
    const count = async () =>
      (await scrape(target))
        .get('recordbus_http_request_duration_seconds')
        ?.samples.find(
          ({ name, labels }) =>
            name.endsWith('_count') &&
            labels.service === 'gateway' &&
            labels.route?.startsWith('/api/v1/collections/:') &&
            labels.method === 'GET' &&
            labels.status === '404',
        )?.value ?? 0;
    const before = await count();
    await admin.get('/api/v1/collections/nobody');
    await eventually('the request is counted', async () => {
      const counted = await count();
      // Each gateway counts its own requests, and any of them answers.
      return replicaCount === 1 ? counted === before + 1 : counted > 0;
    });
  });
  await t.test('include all that dashboards and alerts use', async () => {
    const known = new Set((await listed(target)).keys());
    assert.deepEqual(
      promqlExpressions().flatMap(({ where, text }) =>
        metricsIn(text)
          .filter((name) => !known.has(name))
          .map((name) => `${where}: ${name}`),
      ),
      [],
    );
  });
  await t.test('are documented, each with its type and its labels', async () => {
    const described = documentedMetrics();
    for (const [name, { type, labels }] of await listed(target)) {
      const row = described.get(name);
      assert.equal(row?.type, type, `docs/observability.md lacks ${name} or gives it another type`);
      for (const label of labels)
        assert.ok(row.labels.has(label), `docs/observability.md lacks the label ${label} of ${name}`);
      described.delete(name);
    }
    assert.deepEqual([...described.keys()], [], 'the docs describe metrics that do not exist');
  });
  await t.test('are accepted by promtool', async (t) => {
    const { text } = await target.guest.get(scrapePath);
    const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text });
    if (error) t.skip('promtool is not installed');
    else assert.equal(status, 0, `${stdout}${stderr}`);
  });
  await runScenarios(t, target, [
    {
      name: 'have the text format 0.0.4',
      request: `GET ${scrapePath}`,
      expect: { status: 200, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } },
      spec: 'operation §2.1',
    },
    {
      name: 'answer HEAD',
      request: `HEAD ${scrapePath}`,
      expect: { status: 200 },
      spec: 'http §1.3',
    },
    {
      name: 'are served for any token while none is set',
      request: `GET ${scrapePath}`,
      headers: { Authorization: 'Bearer whatever' },
      expect: { status: 200 },
      spec: 'operation §2.1',
    },
  ]);
  await t.test('are served without a service that hangs [operation §2.1]', async (t) => {
    const { webhooks } = target.services;
    if (!webhooks) return t.skip('all services are one process here');
    process.kill(webhooks.pid, 'SIGSTOP');
    try {
      const families = await scrape(target);
      assert.deepEqual(up(families), { admin: 1, auth: 1, gateway: 1, realtime: 1, records: 1, webhooks: 0 });
    } finally {
      process.kill(webhooks.pid, 'SIGCONT');
    }
    await eventually('the service is up again', async () => up(await scrape(target)).webhooks === 1);
  });
});

onEachTopology('metrics are protected by a token', async (t, target) => {
  await change(target, { 'metrics.enabled': '1', 'metrics.token': token }, 401);
  const withHeader = (
    name: string,
    authorization: string,
    expect: typeof refused.unauthenticated | { status: 200 },
  ) => ({
    name,
    request: `GET ${scrapePath}`,
    headers: { Authorization: authorization },
    expect,
    spec: 'operation §2.1',
  });
  await runScenarios(t, target, [
    withHeader('the token', `Bearer ${token}`, { status: 200 }),
    withHeader('the token with the scheme in another case', `bearer ${token}`, { status: 200 }),
    withHeader('another token', 'Bearer scrape-me.9c1e', refused.unauthenticated),
    withHeader('the beginning of the token', `Bearer ${token.slice(0, -1)}`, refused.unauthenticated),
    withHeader('another scheme', `Basic ${token}`, refused.unauthenticated),
    { name: 'no token', request: `GET ${scrapePath}`, expect: refused.unauthenticated, spec: 'operation §2.1' },
    {
      name: "an admin's token",
      as: 'admin',
      request: `GET ${scrapePath}`,
      expect: refused.unauthenticated,
      spec: 'operation §2.1',
    },
    {
      name: 'JSON for an admin',
      as: 'admin',
      request: 'GET /_/metrics',
      expect: { status: 200 },
      spec: 'operation §2.2',
    },
  ]);
  await t.test('no answer or log line contains the token', async () => {
    const { json, text } = await (await target.admin()).get('/_/metrics');
    assert.ok(listAt(json, 'data').length > 10);
    assert.ok(!text.includes(token));
    assert.deepEqual(
      target.logLines.filter((line) => line.includes(token)),
      [],
    );
  });
});
