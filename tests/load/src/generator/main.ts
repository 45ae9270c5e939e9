import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';
import type { Job, JobResult, Requests } from './job.ts';

// A separate process generates the load, so that generator and server affect each other only by sharing cores.
process.on('disconnect', () => process.exit());
process.on('message', async (job: Job) => process.send?.(await run(job)));

async function run({ origin, seconds, connections, timeoutSec, requests }: Job): Promise<JobResult> {
  const next = cycle(requests);
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const load: autocannon.Options = {
    url: origin,
    connections,
    duration: seconds,
    ...(timeoutSec !== undefined && { timeout: timeoutSec }),
    // How often it checks whether the time is over, in milliseconds.
    sampleInt: 50,
    headers: headersOf(requests),
    requests: [{ method: requests.method, setupRequest: (request) => ({ ...request, ...next() }) }],
  };
  const instance = autocannon(load, (error) => (error ? reject(error) : resolve()));

  const latenciesMs: number[] = [];
  const statuses: Record<number, number> = {};
  let unanswered = 0;
  const startedAtMs = performance.now();
  let endedAtMs = startedAtMs;
  instance.on('response', (_client, status, _bytes, latencyMs) => {
    endedAtMs = performance.now();
    latenciesMs.push(latencyMs);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (requests.once && latenciesMs.length >= requests.paths.length - connections) instance.stop();
  });
  instance.on('reqError', () => {
    unanswered += 1;
  });
  await ended;
  return {
    requestsPerSec: (latenciesMs.length * 1000) / (endedAtMs - startedAtMs),
    latenciesMs: Float64Array.from(latenciesMs),
    statuses,
    unanswered,
  };
}

interface Next {
  path: string;
  body?: string | Buffer;
  headers?: Record<string, string>;
}

const headersOf = ({ headers }: Requests): Record<string, string> => ({
  'content-type': 'application/json',
  ...headers,
});

function cycle(requests: Requests): () => Next {
  const { paths, clients, tokens, keyed } = requests;
  // The load generator takes bytes as buffers only.
  const bodies = requests.bodies?.map((body) => (typeof body === 'string' ? body : Buffer.from(body)));
  let count = 0;
  return () => {
    const path = paths[count % paths.length] ?? '/';
    const body = bodies?.[count % bodies.length];
    const client = clients?.[count % clients.length];
    const token = tokens?.[count % tokens.length];
    count += 1;
    const ofTurn = {
      ...(client !== undefined && { 'x-forwarded-for': client }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(keyed && { 'idempotency-key': randomUUID() }),
    };
    return {
      path,
      ...(body !== undefined && { body }),
      ...((clients || tokens || keyed) && { headers: { ...headersOf(requests), ...ofTurn } }),
    };
  };
}
