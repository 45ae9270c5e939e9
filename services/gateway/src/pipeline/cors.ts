import { type CorsPolicy, filesPolicy } from '../cors/cors-policy.ts';
import type { Step } from './exchange.ts';
import { isFor } from './files-host.ts';

/**
 * Sets the CORS headers; the file host has its own policy. OPTIONS is answered here, before routing, for every path
 * (http §10.4). A request from a blocked origin is served without these headers (http §10.2).
 */
export function cors(ofSettings: () => CorsPolicy, filesHost: () => string | undefined): Step {
  return (request, response, next) => {
    response.setHeader('Vary', 'Origin');
    const { origin } = request.headers;
    const host = origin === undefined ? undefined : filesHost();
    const policy = host !== undefined && isFor(request, host) ? () => filesPolicy : ofSettings;
    const isPreflight = request.method === 'OPTIONS';
    const headers =
      origin === undefined
        ? undefined
        : isPreflight
          ? policy().preflightHeaders(origin)
          : policy().answerHeaders(origin);
    if (headers) for (const name in headers) response.setHeader(name, headers[name] ?? '');
    if (!isPreflight) {
      next();
      return;
    }
    response.writeHead(204);
    response.end();
  };
}
