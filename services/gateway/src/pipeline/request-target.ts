import { malformed } from '@recordbus/shared/errors';

/**
 * The path and query of a request target. Clients of proxies send the whole URL (RFC 9112 §3.2.2), `OPTIONS *` asks
 * about the server as such. Throws 400 for anything else.
 */
export function toOriginForm(target: string): string {
  if (target.startsWith('/') || target === '*') return target;
  const absolute = /^https?:\/\/[^/?#]+/i.exec(target);
  if (!absolute) throw malformed('the request target is not a path');
  const rest = target.slice(absolute[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}
