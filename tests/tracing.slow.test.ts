import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createClient } from './harness/clients/client.ts';
import { createWebhook } from './harness/clients/webhook.ts';
import { eventually } from './harness/eventually.ts';
import { textAt } from './harness/json.ts';
import { findFreePort } from './harness/processes/free-port.ts';
import { startReceiver } from './harness/servers/receiver.ts';
import { type Span, spanKind, startTraceCollector } from './harness/servers/trace-collector.ts';
import { startStack } from './harness/stacks/stack.ts';
import { topologiesOrInCi } from './harness/stacks/target.ts';

/** What the conventions require in such a span (OpenTelemetry semantic conventions: HTTP, SQL, messaging). */
function attributesOf(kind: number, { 'db.system.name': database }: Span['attributes']): readonly string[] {
  const http = ['http.request.method', 'http.response.status_code'];
  const messaging = ['system', 'operation.name', 'operation.type', 'destination.name'].map((one) => `messaging.${one}`);
  switch (kind) {
    case spanKind.server:
      return [...http, 'url.path', 'url.scheme', 'http.route', 'client.address', 'network.peer.address'];
    case spanKind.client:
      return database === undefined
        ? [...http, 'server.address', 'server.port']
        : ['db.namespace', 'db.query.text', 'db.query.summary', 'server.address', 'server.port'];
    case spanKind.producer:
      return [...messaging, 'messaging.message.id'];
    case spanKind.consumer:
      return [...messaging, 'messaging.consumer.group.name', 'messaging.batch.message_count'];
    default:
      return [];
  }
}

for (const topology of topologiesOrInCi('processes')) {
  test(`one trace covers the way from the request to the delivery (${topology}) [docs/architecture]`, async (t) => {
    await using collector = await startTraceCollector();
    await using stack = await startStack({
      topology,
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_BSP_SCHEDULE_DELAY: '100',
      },
    });
    await using receiver = await startReceiver();
    const admin = await stack.admin();
    await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [] });
    await createWebhook(admin, receiver.url, ['notes.*']);
    await stack.guest.get('/readyz');
    await admin.patch('/api/v1/admin/settings', { 'logs.access': 'all' });
    await eventually('all requests are logged', async () => {
      await stack.guest.send('GET', '/api/v1/notes', { headers: { 'X-Request-Id': 'logged' } });
      return stack.process.lines.some((line) => line.includes('"request_id":"logged"'));
    });

    const [traceId, callerId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
    const created = await stack.guest.send('POST', '/api/v1/notes', {
      body: {},
      headers: { traceparent: `00-${traceId}-${callerId}-01` },
    });
    assert.equal(created.status, 201, created.text);
    await receiver.received(1);

    const key = await admin.post('/api/v1/admin/keys', { name: 'traced', scopes: ['records:notes:write'] });
    const machine = createClient(stack.url, textAt(key, 'key'));
    const [ofKey, later] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
    const traced = (trace: string) => ({
      headers: { traceparent: `00-${trace}-${randomBytes(8).toString('hex')}-01` },
    });
    await machine.send('GET', '/api/v1/notes', traced(ofKey));
    await stack.guest.get(`/api/v1/notes?filter=${textAt(key, 'key')}`);
    await stack.guest.send('GET', '/api/v1/notes', traced(later));

    const deliveryIds = () => receiver.deliveries.map(({ headers }) => headers['x-service-delivery']);
    const spansOf = () => collector.spans.filter((span) => span.traceId === traceId);
    const stations: Record<string, (span: Span) => boolean> = {
      'the request at the gateway': ({ kind, parentSpanId }) => kind === spanKind.server && parentSpanId === callerId,
      'the SQL statement': ({ attributes }) => attributes['db.system.name'] === 'postgresql',
      'the publication on the bus': ({ kind }) => kind === spanKind.producer,
      'the delivery to the receiver': ({ kind, attributes }) =>
        kind === spanKind.client && deliveryIds().includes(String(attributes['webhook.delivery.id'])),
    };
    for (const [station, is] of Object.entries(stations)) {
      await t.test(station, async () => {
        await eventually(station, () => {
          if (!spansOf().some(is)) throw new Error(JSON.stringify(spansOf(), null, 1));
          return true;
        });
      });
    }
    await t.test("no span carries a service key's secret [keys §1.4]", async () => {
      const secret = textAt(key, 'key').slice('rbk_'.length + 17);
      for (const trace of [ofKey, later])
        await eventually('the spans of the key have arrived', () =>
          collector.spans.some(({ traceId }) => traceId === trace),
        );
      assert.ok(!JSON.stringify(collector.spans).includes(secret));
    });
    await t.test("every span has the conventions' attributes [operation §3.4]", () => {
      for (const { name, kind, attributes, version } of collector.spans) {
        assert.match(String(version), /^\d+\.\d+\.\d+/);
        const wanted = attributesOf(kind, attributes);
        assert.deepEqual(
          wanted.filter((one) => attributes[one] === undefined || attributes[one] === ''),
          [],
          name,
        );
      }
    });
    await t.test('a request names its method, path, route, status and peer [operation §3.4]', () => {
      const request = spansOf().find(({ parentSpanId }) => parentSpanId === callerId);
      assert.equal(request?.name, 'POST /api/v1/:collection');
      const { attributes } = request ?? { attributes: {} };
      assert.deepEqual(
        ['http.request.method', 'url.path', 'http.route', 'network.peer.address', 'client.address'].map(
          (one) => attributes[one],
        ),
        ['POST', '/api/v1/notes', '/api/v1/:collection', '127.0.0.1', '127.0.0.1'],
      );
      assert.equal(Number(attributes['http.response.status_code']), 201);
    });
    await t.test('5xx is an error, 4xx is none [operation §3.4]', async () => {
      const spansAt = (path: string) =>
        eventually('the span of the request has arrived', () => {
          const found = collector.spans.filter(({ attributes }) => attributes['url.path'] === path);
          if (!found.some(({ kind }) => kind === spanKind.server)) throw new Error('no server span');
          return found;
        });
      const missing = await stack.guest.get('/api/v1/notes/nowhere');
      assert.equal(missing.status, 404);
      for (const { isError, attributes } of await spansAt('/api/v1/notes/nowhere')) {
        assert.equal(Number(attributes['http.response.status_code']), 404);
        assert.equal(isError, false);
      }
      await admin.patch('/api/v1/admin/settings', {
        'smtp.enabled': '1',
        'smtp.host': '127.0.0.1',
        'smtp.port': String(await findFreePort()),
        'smtp.from': 'a@example.com',
      });
      const mailed = await admin.send('POST', '/api/v1/admin/settings/test-email', { body: { to: 'b@example.com' } });
      assert.equal(mailed.status, 502, mailed.text);
      for (const { isError, attributes } of await spansAt('/api/v1/admin/settings/test-email'))
        assert.deepEqual([isError, attributes['error.type']], [true, '502']);
    });
    await t.test('every span has a parent in the trace', async () => {
      await eventually('the parents have arrived', () => {
        const ids = new Set([callerId, ...spansOf().map(({ spanId }) => spanId)]);
        const orphans = spansOf().filter(({ parentSpanId }) => !ids.has(parentSpanId ?? ''));
        assert.deepEqual(orphans, []);
        return true;
      });
    });
    if (topology === 'processes') {
      await t.test('spans name their services', () => {
        const services = new Set(spansOf().map(({ service }) => service));
        assert.deepEqual([...services].sort(), ['recordbus-gateway', 'recordbus-records', 'recordbus-webhooks']);
      });
    }

    await t.test('a request without a trace starts one, and its log line names it', async () => {
      const { headers } = await stack.guest.send('POST', '/api/v1/notes', { body: {} });
      await receiver.received(2);
      const isDelivery = stations['the delivery to the receiver'] ?? (() => false);
      const delivery = await eventually('a delivery in a new trace has arrived', () =>
        collector.spans.find((span) => span.traceId !== traceId && isDelivery(span)),
      );
      const root = await eventually('the root span has arrived', () =>
        collector.spans.find((span) => span.traceId === delivery.traceId && !span.parentSpanId),
      );
      assert.equal(root.kind, spanKind.server);
      const requestId = String(headers['x-request-id']);
      await eventually('the line is logged', () =>
        stack.process.lines.some((line) => line.includes(requestId) && line.includes(delivery.traceId)),
      );
    });

    await t.test('neither probes nor background work start a trace', () => {
      const begun = collector.spans.filter(({ parentSpanId }) => !parentSpanId);
      assert.deepEqual(
        begun.filter(({ kind, name }) => kind !== spanKind.server || /(healthz|readyz)$/.test(name)),
        [],
      );
    });

    await t.test('the log lines name the trace', () => {
      assert.ok(stack.process.lines.some((line) => line.includes(`"trace_id":"${traceId}"`)));
    });
  });
}
