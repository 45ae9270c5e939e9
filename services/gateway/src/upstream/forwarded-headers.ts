import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { connectionHeaders, namedByConnection } from '@recordbus/http';
import { contextHeader } from '@recordbus/request/context';

/**
 * `expect` was answered here. Credentials end at the gateway, where `authenticate` removes them, since the context names
 * the principal; they are still there only for a route that reads them.
 */
const keptFromService = new Set([...connectionHeaders, 'expect', contextHeader]);

/**
 * Returns the headers of a request for the service, with the signed context: names and values in turn. The headers that
 * `Connection` names were removed when the exchange began.
 */
export function toServiceHeaders(headers: IncomingHttpHeaders, signedContext: string, hasBody: boolean): string[] {
  const forwarded = [contextHeader, signedContext];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || keptFromService.has(name)) continue;
    if (name === 'content-length' && !hasBody) continue;
    if (typeof value === 'string') forwarded.push(name, value);
    else for (const one of value) forwarded.push(name, one);
  }
  return forwarded;
}

/** Sets a service's headers on the answer to the client. */
export function setClientHeaders(response: ServerResponse, headers: IncomingHttpHeaders): void {
  const named = namedByConnection(headers.connection);
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || connectionHeaders.has(name) || named?.includes(name)) continue;
    response.setHeader(name, value);
  }
}
