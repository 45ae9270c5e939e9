import { httpUpstream } from '../src/upstream/http-upstream.ts';
import { declare, testService } from './test-service.ts';
import { bus, contextSigner, createTestGateway, quiet, serve } from './topologies.ts';

export const routes = [declare('GET', '/api/v1/:collection'), declare('POST', '/api/v1/:collection')];

/** Creates a service whose answers name the replica. */
export const replica = (name: string) =>
  testService('records', quiet, routes, {
    '/api/v1/who': (_, response) => {
      response.end(name);
    },
  });

/** Starts a gateway before the service at this URL. */
export const startGateway = (url: string, options: Partial<Parameters<typeof httpUpstream>[0]> = {}) =>
  serve(
    createTestGateway({
      log: quiet,
      upstreams: [
        httpUpstream({ name: 'records', url, contextSigner, bus, log: quiet, answerTimeoutMs: 60_000, ...options }),
      ],
    }),
  );

export const post = (url: string) =>
  fetch(`${url}/api/v1/posts`, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } });

export async function refusalOf(response: Response): Promise<[number, string]> {
  const { code } = (await response.json()) as { code: string };
  return [response.status, code];
}
