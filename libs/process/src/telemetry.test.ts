import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { inSpan, startTelemetry } from './telemetry.ts';

const collector = createServer().listen(0, '127.0.0.1');
await once(collector, 'listening');
after(() => {
  collector.closeAllConnections();
  collector.close();
});

test("a collector that never answers does not delay a process's end", async () => {
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  // The SDK reads the process's variables.
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = endpoint;
  const stop = await startTelemetry('test');
  await inSpan('work', {}, async () => {});
  const exported = once(collector, 'request');
  const stopped = stop();
  const [{ url }] = await exported;
  assert.equal(url, '/v1/traces');
  await stopped;
});
