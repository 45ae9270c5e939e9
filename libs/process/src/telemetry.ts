import { randomFillSync } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Attributes, Span } from '@opentelemetry/api';
import { maskKeys } from './mask-keys.ts';
import { productVersion } from './product-version.ts';

export type { Span } from '@opentelemetry/api';

/**
 * OpenTelemetry's API while spans are recorded. Few places create spans, by hand; otherwise each costs one comparison.
 */
let api: typeof import('@opentelemetry/api') | undefined;

/** How long a process's end waits for its last spans to be sent, in milliseconds. */
const lastSpansMs = 2000;

/**
 * Starts the OpenTelemetry SDK when OTEL_EXPORTER_OTLP_ENDPOINT is set; the standard OTEL_* variables configure the
 * rest. The SDK and its API are loaded only then: the SDK costs 35 MB and 400 ms, the API a hundred modules. Returns a
 * function that sends the last spans and stops the SDK; it never fails.
 */
export async function startTelemetry(serviceName: string, environment = process.env): Promise<() => Promise<void>> {
  if (!environment.OTEL_EXPORTER_OTLP_ENDPOINT) return async () => {};
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  // Not by setting the variable, which child processes would inherit.
  const name = environment.OTEL_SERVICE_NAME ?? `recordbus-${serviceName}`;
  // Only traces: metrics are scraped, and logs are written as lines.
  const sdk = new NodeSDK({
    serviceName: name,
    resource: resourceFromAttributes({ 'service.version': productVersion }),
    instrumentations: [],
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  api = await import('@opentelemetry/api');
  // A collector that is down or hangs costs the last spans, not the clean end.
  return () => Promise.race([sdk.shutdown().catch(() => {}), delay(lastSpansMs)]);
}

/** A span's role, as OpenTelemetry names it. */
export type SpanRole = 'SERVER' | 'CLIENT' | 'PRODUCER' | 'CONSUMER' | 'INTERNAL';

interface SpanOptions {
  /** A SERVER span within another span of its process becomes an INTERNAL one: one process is one server. */
  kind?: SpanRole;
  /** What the span says from its start, so that samplers can read it. A function runs only when spans are recorded. */
  attributes?: Attributes | (() => Attributes);
  /** W3C traceparent to continue; without it the span is the current one's child. */
  traceparent?: string | undefined;
  /** Creates no span outside another one: background work begins no trace. */
  onlyWithin?: boolean;
}

/** How long an attribute's text may be, in characters. A client may send a 128 KiB path. */
const maxAttributeLength = 1024;

/** Returns a client's text as an attribute's value: cut, without service keys. */
export const attributeText = (text: string): string => maskKeys(text.slice(0, maxAttributeLength));

/**
 * Runs work inside a span; undefined while no spans are recorded. An error marks the span with its `error.type` and is
 * rethrown.
 */
export async function inSpan<T>(
  name: string,
  { kind = 'INTERNAL', attributes, traceparent, onlyWithin }: SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (!api) return work(undefined);
  const { context, propagation, SpanKind, trace } = api;
  const outer = trace.getActiveSpan();
  if (onlyWithin && !outer) return work(undefined);
  const role = kind === 'SERVER' && outer ? 'INTERNAL' : kind;
  const given = typeof attributes === 'function' ? attributes() : attributes;
  const parent = traceparent ? propagation.extract(context.active(), { traceparent }) : context.active();
  const tracer = trace.getTracer('recordbus', productVersion);
  return tracer.startActiveSpan(name, { kind: SpanKind[role], ...(given && { attributes: given }) }, parent, (span) =>
    work(span)
      .catch((error: unknown) => {
        failSpan(span, errorTypeOf(error), error instanceof Error ? error.message : String(error));
        throw error;
      })
      .finally(() => span.end()),
  );
}

/** Marks a span as failed. The type is a status code or an error code: few values, for grouping. */
export function failSpan(span: Span, type: string, message?: string): void {
  if (!api) return;
  span.setAttribute('error.type', type);
  span.setStatus({ code: api.SpanStatusCode.ERROR, ...(message !== undefined && { message: attributeText(message) }) });
}

/** The code of a system, database or product error, else its class. */
function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Returns the current span's W3C traceparent, or the given one when tracing is off. */
export function currentTraceparent(otherwise: string): string {
  if (!api) return otherwise;
  const carrier: { traceparent?: string } = {};
  api.propagation.inject(api.context.active(), carrier);
  return carrier.traceparent ?? otherwise;
}

const traceparentShape = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns the client's traceparent if it is valid, else a new, unsampled one (W3C Trace Context §3.2). */
export function acceptTraceparent(header: string | string[] | undefined): string {
  if (typeof header === 'string' && traceparentShape.test(header)) return header;
  const random = randomHex();
  return `00-${random.slice(0, 32)}-${random.slice(32)}-00`;
}

/** A trace id and a span id: 24 random bytes. */
const randomLength = 24;

/** Random bytes for many requests: a call for a few bytes costs as much as one for thousands. */
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
