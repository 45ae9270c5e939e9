import { randomFillSync } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Attributes, context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

export { SpanKind } from '@opentelemetry/api';

/** Spans are made by hand at the few places that matter; without an SDK all of this costs one comparison. */
let tracing = false;
const tracer = trace.getTracer('recordbus');

/** How long the end of a process waits for its last spans to be taken, in milliseconds. */
const lastSpansMs = 2000;

/**
 * Starts the OpenTelemetry SDK when OTEL_EXPORTER_OTLP_ENDPOINT is set; everything else about it is configured by the
 * standard OTEL_* variables. The SDK is loaded only then: it costs 35 MB and 400 ms.
 * @returns a function that sends the last spans and stops it; it never fails
 */
export async function startTelemetry(serviceName: string, environment = process.env): Promise<() => Promise<void>> {
  if (!environment.OTEL_EXPORTER_OTLP_ENDPOINT) return async () => {};
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  // Not by setting the variable: the processes that this one starts would inherit the name.
  const name = environment.OTEL_SERVICE_NAME ?? `recordbus-${serviceName}`;
  // Only traces: metrics are scraped, and logs are lines.
  const sdk = new NodeSDK({ serviceName: name, instrumentations: [], metricReaders: [], logRecordProcessors: [] });
  sdk.start();
  tracing = true;
  // A collector that is away or hangs costs the last spans, not the clean end of the process.
  return () => Promise.race([sdk.shutdown().catch(() => {}), delay(lastSpansMs)]);
}

interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /** W3C traceparent to continue; without it the span is a child of the current one. */
  traceparent?: string | undefined;
  /** Without a span around it the work gets none: what a process does on its own account begins no trace. */
  onlyWithin?: boolean;
}

/** Runs work inside a span; an error marks the span and is thrown on. */
export async function inSpan<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  if (!tracing || (options.onlyWithin && !trace.getActiveSpan())) return work();
  const { traceparent, onlyWithin: _, ...spanOptions } = options;
  const parent = traceparent ? propagation.extract(context.active(), { traceparent }) : context.active();
  return tracer.startActiveSpan(name, { kind: SpanKind.INTERNAL, ...spanOptions }, parent, async (span) => {
    try {
      return await work();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The W3C traceparent of the span in which the caller runs, or the given one when nothing is traced. */
export function currentTraceparent(otherwise: string): string {
  if (!tracing) return otherwise;
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent ?? otherwise;
}

const traceparentShape = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The traceparent a client sent if it has the W3C form, else a new, unsampled one (W3C Trace Context §3.2). */
export function acceptTraceparent(header: string | string[] | undefined): string {
  if (typeof header === 'string' && traceparentShape.test(header)) return header;
  const random = randomHex();
  return `00-${random.slice(0, 32)}-${random.slice(32)}-00`;
}

/** A trace id and a span id: 24 random bytes. */
const randomLength = 24;

/** Random bytes for many requests, since a call for a few costs as much as one for thousands. */
const randomPool = Buffer.alloc(randomLength * 512);
let randomUsed = randomPool.length;

function randomHex(): string {
  if (randomUsed === randomPool.length) {
    randomFillSync(randomPool);
    randomUsed = 0;
  }
  randomUsed += randomLength;
  return randomPool.toString('hex', randomUsed - randomLength, randomUsed);
}
