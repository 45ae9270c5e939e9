import type { IncomingMessage } from 'node:http';
import { malformed } from '@recordbus/errors';

/**
 * Returns a request target's path and query. Clients behind proxies send the whole URL (RFC 9112 §3.2.2). Throws 400
 * for any other form, for a fragment and for bytes that must be percent-encoded; `*` is only valid with OPTIONS, which
 * is answered before this step.
 */
export function toOriginForm(target: string): string {
  if (target.includes('#')) throw malformed('a fragment is not for the server');
  // node:http reads each such byte as a separate character.
  if (/[\x80-\xff]/.test(target)) throw malformed('the request target has bytes that must be percent-encoded');
  if (target.startsWith('/')) return target;
  const absolute = /^https?:\/\/[^/?#]+/i.exec(target);
  if (!absolute) throw malformed('the request target is not a path');
  const rest = target.slice(absolute[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Returns a request target's path, for logs: a query can hold tokens and private search terms. */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}

/** Throws 400 for a request without a Host header or with two (RFC 9112 §3.2). */
export function requireHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts += 1;
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) throw malformed('the request does not name one host');
}

/** Throws 400 for a transfer coding other than chunked: its coded bytes would be read as the body (RFC 9112 §6.1). */
export function requirePlainTransfer({ headers }: IncomingMessage): void {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    throw malformed('the only supported Transfer-Encoding is chunked');
}
