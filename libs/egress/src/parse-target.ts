import { EgressFailedError } from './egress-error.ts';

/**
 * Parses a request's URL: http or https, without credentials, which would get into logs. Throws EgressFailedError for
 * other texts.
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
