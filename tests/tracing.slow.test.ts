import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createClient } from './harness/client.ts';
import { eventually } from './harness/eventually.ts';
import { textAt } from './harness/json.ts';
import { startReceiver } from './harness/receiver.ts';
import { startStack } from './harness/stack.ts';
import { topologies } from './harness/target.ts';
import { type Span, spanKind, startTraceCollector } from './harness/trace-collector.ts';
import { createWebhook } from './harness/webhook.ts';

for (const topology of topologies) {
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
    await t.test('no span carries the secret of a service key [keys §1.4]', async () => {
      const secret = textAt(key, 'key').slice('rbk_'.length + 17);
      for (const trace of [ofKey, later])
        await eventually('the spans of the key have arrived', () =>
          collector.spans.some(({ traceId }) => traceId === trace),
        );
      assert.ok(!JSON.stringify(collector.spans).includes(secret));
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
