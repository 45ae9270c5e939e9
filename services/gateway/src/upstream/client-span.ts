import type { IncomingMessage, ServerResponse } from 'node:http';
import { currentTraceparent, failSpan, inSpan } from '@recordbus/process/telemetry';
import type { RequestContext } from '@recordbus/request/context';

type Forward = (
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
  head?: Buffer,
) => Promise<void>;

/**
 * Records requests to a service in another process as client spans, by the conventions for HTTP clients (OpenTelemetry,
 * "HTTP spans"). Collectors draw the service map from pairs of client and server spans.
 */
export function tracingForwards(url: string, forward: Forward): Forward {
  const { hostname, port, protocol } = new URL(url);
  const peer = {
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    'url.full': `${new URL(url).origin}/`,
  };
  return (request, response, context, head) => {
    const method = request.method ?? 'GET';
    const attributes = () => ({ ...peer, 'http.request.method': method });
    return inSpan(method, { kind: 'CLIENT', onlyWithin: true, attributes }, async (span) => {
      if (!span) return forward(request, response, context, head);
      const traceparent = currentTraceparent(context.traceparent);
      await forward(request, response, { ...context, traceparent }, head);
      span.setAttribute('http.response.status_code', response.statusCode);
      if (response.statusCode >= 400) failSpan(span, String(response.statusCode));
    });
  };
}
