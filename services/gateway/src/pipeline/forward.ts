import { notFound } from '@recordbus/shared/errors';
import { currentTraceparent, inSpan, SpanKind } from '@recordbus/shared/telemetry';
import type { Step } from './exchange.ts';

/** Hands the request to the service that declared its route. */
export const forward: Step = (request, response) => {
  const { context, route } = response.locals.exchange;
  if (!route) throw notFound('route');
  return inSpan(route.spanName, { kind: SpanKind.SERVER, traceparent: context.traceparent }, () => {
    const traceparent = currentTraceparent(context.traceparent);
    const inner = traceparent === context.traceparent ? context : { ...context, traceparent };
    return route.upstream.forward(request, response, inner);
  });
};
