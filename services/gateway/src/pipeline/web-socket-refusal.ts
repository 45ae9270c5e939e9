import type { IncomingMessage } from 'node:http';
import { AppError, forbidden, malformed } from '@recordbus/errors';
import { hasBody } from '@recordbus/http';
import type { CorsPolicy } from '../cors/cors-policy.ts';
import type { RouteEntry } from '../routing/routing-table.ts';

/** A 16-byte nonce in base64 (RFC 6455 §4.1). */
const handshakeKey = /^[A-Za-z0-9+/]{22}==$/;
const version = '13';

/**
 * Returns the refusal for a WebSocket request whose path, handshake or origin does not allow one (http §13.7);
 * undefined for a valid one.
 */
export function findWebSocketRefusal(
  request: IncomingMessage,
  route: RouteEntry | undefined,
  policy: CorsPolicy,
): AppError | undefined {
  const { method, headers } = request;
  if (!route?.staysOpen) return malformed('this path opens no WebSockets');
  if (method !== 'GET' || hasBody(request)) return malformed('a WebSocket is opened by a GET without a body');
  if (headers['sec-websocket-version'] !== version) return otherVersion();
  if (!handshakeKey.test(headers['sec-websocket-key'] ?? '')) return malformed('Sec-WebSocket-Key is not valid');
  const { origin } = headers;
  // Browsers do not enforce CORS on WebSockets.
  if (origin !== undefined && !policy.answerHeaders(origin) && !isSameHost(origin, headers.host))
    return forbidden('pages from this origin may not open WebSockets', 'origin_refused');
  return undefined;
}

const otherVersion = () =>
  new AppError(426, 'upgrade_required', `the WebSocket version must be ${version}`, {
    headers: { Upgrade: 'websocket', 'Sec-WebSocket-Version': version },
  });

/** Whether the page belongs to the gateway itself. A proxy in front of the gateway may hide the scheme. */
function isSameHost(origin: string, host: string | undefined): boolean {
  const of = (scheme: string) => `${scheme}://${host?.toLowerCase()}`;
  return host !== undefined && [of('http'), of('https')].includes(origin.toLowerCase());
}
