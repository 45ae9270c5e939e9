import { notFound } from '@recordbus/errors';
import { inServerSpan } from '@recordbus/http';
import { currentTraceparent } from '@recordbus/process/telemetry';
import { isProbe, type Step } from './exchange.ts';
import type { ForwardOpen } from './forward-open.ts';

/** Forwards the request to the service that declared its route; refuses a request without a route. */
export function forward(forwardOpen: ForwardOpen): Step {
  return (request, response) => {
    const { exchange } = response.locals;
    const { context, route, refusal } = exchange;
    if (refusal || !route) throw refusal ?? notFound('route');
    const forwardToService = async () => {
      const traceparent = currentTraceparent(context.traceparent);
      if (traceparent !== context.traceparent) exchange.context = { ...context, traceparent };
      exchange.forwardedAtMs = performance.now();
      try {
        if (route.staysOpen) await forwardOpen(request, response, route, exchange);
        else await route.upstream.forward(request, response, exchange.context);
      } finally {
        exchange.answeredAtMs = performance.now();
      }
    };
    // Probes arrive every few seconds and would fill the traces.
    if (isProbe(exchange)) return forwardToService();
    // If the client sent no trace, this span begins one, and the configured sampler decides about it.
    const continued = request.headers.traceparent === context.traceparent ? context.traceparent : undefined;
    return inServerSpan(
      { request, response, context, route: route.paths[0], traceparent: continued },
      forwardToService,
    );
  };
}
