import type { IncomingHttpHeaders } from 'node:http';
import { namedByConnection } from '@recordbus/shared/http';

/**
 * Headers for all who get the request. A client must not name them in `Connection` (RFC 9110 §7.6.1); one that does
 * would take away what the gateway and the services go by: whose the body is, what it is, which proxies it passed.
 */
const forEverybody =
  /^(accept|authorization$|cache-control$|content-|cookie$|date$|expect$|forwarded$|from$|host$|if-|origin$|pragma$|prefer$|range$|referer$|sec-|trace|transfer-encoding$|user-agent$|via$|x-forwarded-|x-request-id$|x-service-)/;

/** Takes off a request what its client says to this end of the connection alone, by naming it in `Connection`. */
export function dropNamedHeaders(headers: IncomingHttpHeaders): void {
  for (const name of namedByConnection(headers.connection) ?? []) if (!forEverybody.test(name)) delete headers[name];
}
