import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { contextHeader } from '@recordbus/shared/context';

/** Headers that speak of one connection and not of the message (RFC 9110 §7.6.1). */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** `expect` was answered here. Credentials end at the gateway: the context says what they were good for. */
const keptFromService = new Set([...hopByHop, 'expect', 'authorization', contextHeader]);
const keptFromClient = new Set(hopByHop);

/** Header names that `Connection` adds to those that end here. */
const namedByConnection = (connection: string | undefined): ReadonlySet<string> | undefined =>
  connection === undefined || /^\s*(keep-alive|close)\s*$/i.test(connection)
    ? undefined
    : new Set(connection.split(',').map((name) => name.trim().toLowerCase()));

/** The headers of a request for the service, with the sealed context: names and values in turn. */
export function toServiceHeaders(headers: IncomingHttpHeaders, sealedContext: string, hasBody: boolean): string[] {
  const named = namedByConnection(headers.connection);
  const forwarded = [contextHeader, sealedContext];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || keptFromService.has(name) || named?.has(name)) continue;
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
    if (value === undefined || keptFromClient.has(name) || named?.has(name)) continue;
    response.setHeader(name, value);
  }
}
