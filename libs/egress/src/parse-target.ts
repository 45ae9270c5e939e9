import { EgressFailedError } from './egress-error.ts';

/**
 * The URL of a request. Only http and https, and no user or password in it: they would end up in logs.
 * Throws EgressFailedError.
 */
export function parseTarget(url: string | URL): URL {
  const target = typeof url === 'string' ? URL.parse(url) : url;
  if (!target) throw new EgressFailedError('not a valid URL', 'ERR_INVALID_URL');
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw new EgressFailedError(`URL scheme ${target.protocol} is not http or https`, 'ERR_INVALID_URL');
  }
  if (target.username !== '' || target.password !== '') {
    throw new EgressFailedError('URL carries credentials', 'ERR_INVALID_URL');
  }
  return target;
}
