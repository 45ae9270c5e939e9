import { notFound } from '@recordbus/shared/errors';
import { upgradeHead } from '@recordbus/shared/http';
import { currentTraceparent, inSpan, SpanKind } from '@recordbus/shared/telemetry';
import { isProbe, type Step } from './exchange.ts';
import type { OpenCounts } from './open-counts.ts';

/** Forwards the request to the service that declared its route; refuses a request without a route. */
export function forward(openCounts: OpenCounts): Step {
  return (request, response) => {
    const { exchange } = response.locals;
    const { context, route, refusal } = exchange;
    if (refusal || !route) throw refusal ?? notFound('route');
    const forwardToService = async () => {
      const traceparent = currentTraceparent(context.traceparent);
      if (traceparent !== context.traceparent) exchange.context = { ...context, traceparent };
      exchange.forwardedAtMs = performance.now();
      try {
        if (!route.staysOpen) {
          await route.upstream.forward(request, response, exchange.context);
          return;
        }
        const head = upgradeHead(request);
        const kind = head ? 'websocket' : 'stream';
        openCounts.begin(kind);
        try {
          if (head) await route.upstream.upgrade(request, response, head, exchange.context);
          else await route.upstream.forwardOpen(request, response, exchange.context);
        } finally {
          openCounts.end(kind);
        }
      } finally {
        exchange.answeredAtMs = performance.now();
      }
    };
    // Probes arrive every few seconds and would fill the traces.
    if (isProbe(exchange)) return forwardToService();
    // When the client sent no trace, this span begins one, so that the configured sampler decides about it.
    const continued = request.headers.traceparent === context.traceparent ? context.traceparent : undefined;
    return inSpan(route.spanName, { kind: SpanKind.SERVER, traceparent: continued }, forwardToService);
  };
}
