import type { CorsPolicy } from '../cors/cors-policy.ts';
import type { Step } from './exchange.ts';

/**
 * Sets the CORS headers. OPTIONS is answered here, before routing, for every path (http §10.4). A request from a
 * blocked origin is served without these headers (http §10.2).
 */
export function cors(policy: () => CorsPolicy): Step {
  return (request, response, next) => {
    response.setHeader('Vary', 'Origin');
    const { origin } = request.headers;
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
