import type { IncomingMessage } from 'node:http';
import { malformed } from '@recordbus/shared/errors';

/**
 * The path and query of a request target. Clients of proxies send the whole URL (RFC 9112 §3.2.2). Throws 400 for
 * anything else and for one with a fragment; `*` goes with OPTIONS alone, which is answered before this.
 */
export function toOriginForm(target: string): string {
  if (target.includes('#')) throw malformed('a fragment is not for the server');
  if (target.startsWith('/')) return target;
  const absolute = /^https?:\/\/[^/?#]+/i.exec(target);
  if (!absolute) throw malformed('the request target is not a path');
  const rest = target.slice(absolute[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The path of a request target as logs keep it: a query can hold tokens and searches that are nobody else's business. */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}

/** Throws 400 for a request that does not say which host it is for, or says so twice (RFC 9112 §3.2). */
export function requireHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts += 1;
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) throw malformed('the request does not name one host');
}

/** Throws 400 for a body in another transfer coding than chunks: it would be taken for what it is packed in (RFC 9112 §6.1). */
export function requirePlainTransfer({ headers }: IncomingMessage): void {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    throw malformed('the only Transfer-Encoding that is read is chunked');
}
