import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { at, type JsonObject, listAt, textAt } from '../json.ts';

/** OTLP's numbers for span kinds. */
export const spanKind = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;

/** OTLP's number for the status ERROR. */
const errorStatus = 2;

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Whether its status is an error. */
  readonly isError: boolean;
  /** `service.name` of the process that created the span. */
  readonly service: string;
  /** `service.version` of that process. */
  readonly version: unknown;
}

/** An OpenTelemetry collector that accepts OTLP over HTTP as JSON. */
interface TraceCollector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly Span[];
}

/** Starts a collector on the loopback address. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: Span[] = [];
  const server = createServer((request, response) => {
    json(request).then(
      (body) => {
        if (request.url === '/v1/traces') spans.push(...readSpans(body));
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end('{}');
      },
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const readSpans = (body: unknown): Span[] =>
  listAt(body, 'resourceSpans').flatMap((group) => {
    const resource = readAttributes(listAt(group, 'resource.attributes'));
    return listAt(group, 'scopeSpans').flatMap((scope) =>
      listAt(scope, 'spans').map((span) => ({
        traceId: textAt(span, 'traceId'),
        spanId: textAt(span, 'spanId'),
        parentSpanId: typeof span.parentSpanId === 'string' ? span.parentSpanId : undefined,
        name: textAt(span, 'name'),
        kind: Number(span.kind),
        attributes: readAttributes(Array.isArray(span.attributes) ? span.attributes : []),
        isError: at(span, 'status.code') === errorStatus,
        service: String(resource['service.name']),
        version: resource['service.version'],
      })),
    );
  });

const readAttributes = (attributes: readonly JsonObject[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value as object)[0]]));
