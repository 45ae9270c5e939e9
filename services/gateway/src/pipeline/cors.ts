import type { CorsPolicy } from '../cors/cors-policy.ts';
import type { Step } from './exchange.ts';

/**
 * Tells browsers which pages may read the answer. OPTIONS is answered here, before routing, whatever the path
 * (interface §2.7); a blocked origin gets no headers and is served none the less (contract §8).
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
