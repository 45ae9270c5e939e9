import type { IncomingHttpHeaders } from 'node:http';
import { namedByConnection } from '@recordbus/http';

/**
 * End-to-end headers. A client must not name them in `Connection` (RFC 9110 §7.6.1): that would remove what the gateway
 * and the services rely on, such as the body's type, the sender and the proxies before the gateway.
 */
const endToEnd =
  /^(accept|authorization$|cache-control$|content-|cookie$|date$|expect$|forwarded$|from$|host$|idempotency-key$|if-|last-event-id$|origin$|pragma$|prefer$|range$|referer$|sec-|trace|transfer-encoding$|user-agent$|via$|x-forwarded-|x-request-id$|x-service-)/;

/** Removes the headers that `Connection` names, apart from end-to-end headers. */
export function dropNamedHeaders(headers: IncomingHttpHeaders): void {
  for (const name of namedByConnection(headers.connection) ?? []) if (!endToEnd.test(name)) delete headers[name];
}
