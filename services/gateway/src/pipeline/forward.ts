import { notFound } from '@recordbus/shared/errors';
import { currentTraceparent, inSpan, SpanKind } from '@recordbus/shared/telemetry';
import { isProbe, type Step } from './exchange.ts';

/** Hands the request to the service that declared its route, or refuses what belongs to nobody. */
export const forward: Step = (request, response) => {
  const { exchange } = response.locals;
  const { context, route, refusal } = exchange;
  if (refusal || !route) throw refusal ?? notFound('route');
  const ask = async () => {
    const traceparent = currentTraceparent(context.traceparent);
    if (traceparent !== context.traceparent) exchange.context = { ...context, traceparent };
    exchange.forwardedAtMs = performance.now();
    try {
      await route.upstream.forward(request, response, exchange.context);
    } finally {
      exchange.answeredAtMs = performance.now();
    }
  };
  // Probes come every few seconds, all day.
  if (isProbe(exchange)) return ask();
  // A trace that the client did not begin is begun by this span, so that the configured sampler decides about it.
  const continued = request.headers.traceparent === context.traceparent ? context.traceparent : undefined;
  return inSpan(route.spanName, { kind: SpanKind.SERVER, traceparent: continued }, ask);
};
