import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { namedByConnection, securityHeaders } from '@recordbus/http';
import type { Logger } from '@recordbus/process/logging';
import { maskKeys } from '@recordbus/process/mask-keys';
import { acceptTraceparent } from '@recordbus/process/telemetry';
import { contextHeader } from '@recordbus/request/context';
import { guarded } from '@recordbus/request/request-scope';
import type { FindClient } from '../client-address/find-client.ts';
import { type AccessLogRules, accessLog } from './access-log.ts';
import { guest } from './authenticate.ts';
import type { Step } from './exchange.ts';
import { translatedRequests } from './translated-requests.ts';

const saneRequestId = /^[\x20-\x7e]{1,128}$/;
const securityHeaderList = Object.entries(securityHeaders);

/**
 * Begins the exchange: request id, trace, client address, every answer's headers, the access log. Removes headers that
 * only a gateway may set and those for this connection alone.
 */
export function beginExchange(log: Logger, findClient: () => FindClient, rules: () => AccessLogRules): Step {
  const logAccess = guarded(accessLog(log, rules));
  const isLogged = log.isLevelEnabled('info');
  return (request, response, next) => {
    const { headers, socket } = request;
    if (headers[contextHeader] !== undefined) delete headers[contextHeader];
    dropNamedHeaders(headers);
    const requestId = acceptRequestId(headers['x-request-id']);
    response.locals.exchange = {
      startedAtMs: performance.now(),
      bytesSentBefore: socket.bytesWritten,
      context: {
        requestId,
        traceparent: acceptTraceparent(headers.traceparent),
        principal: guest,
        clientAddress: findClient()(socket.remoteAddress ?? '', textOf(headers['x-forwarded-for'])),
        ...(translatedRequests.has(request) && { isTranslated: true as const }),
      },
      route: undefined,
      params: {},
      refusal: undefined,
      isKeyRefused: false,
      ticket: undefined,
      rateRule: undefined,
      forwardedAtMs: undefined,
      answeredAtMs: undefined,
    };
    response.setHeader('X-Request-Id', requestId);
    for (const [name, value] of securityHeaderList) response.setHeader(name, value);
    if (isLogged) response.once('close', logAccess);
    next();
  };
}

/** Returns the client's request id if it is fit for headers and log lines, otherwise a new one (http §5.1). */
function acceptRequestId(header: string | string[] | undefined): string {
  const isSane = typeof header === 'string' && saneRequestId.test(header) && maskKeys(header) === header;
  return isSane ? header : randomUUID();
}

const textOf = (header: string | string[] | undefined) => (Array.isArray(header) ? header.join(',') : header);

/**
 * End-to-end headers. A client must not name them in `Connection` (RFC 9110 §7.6.1): that would remove what the gateway
 * and the services rely on, such as the body's type, the sender and the proxies before the gateway.
 */
const endToEnd =
  /^(accept|authorization$|cache-control$|content-|cookie$|date$|expect$|forwarded$|from$|host$|idempotency-key$|if-|last-event-id$|origin$|pragma$|prefer$|range$|referer$|sec-|trace|transfer-encoding$|user-agent$|via$|x-forwarded-|x-request-id$|x-service-)/;

/** Removes the headers that `Connection` names, apart from end-to-end headers. */
function dropNamedHeaders(headers: IncomingHttpHeaders): void {
  for (const name of namedByConnection(headers.connection) ?? []) if (!endToEnd.test(name)) delete headers[name];
}
