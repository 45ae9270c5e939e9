import autocannon from 'autocannon';
import type { Job, Outcome, Requests } from './job.ts';

// The load comes from a process of its own, so that making it never delays what is measured, nor the other way round
// more than the machine's cores make it.
process.on('disconnect', () => process.exit());
process.on('message', async (job: Job) => process.send?.(await run(job)));

async function run({ origin, seconds, connections, requests }: Job): Promise<Outcome> {
  const next = cycle(requests);
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const load: autocannon.Options = {
    url: origin,
    connections,
    duration: seconds,
    // How often it looks whether the time is over, in milliseconds.
    sampleInt: 50,
    headers: { 'content-type': 'application/json', ...requests.headers },
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

function cycle({ paths, bodies }: Requests): () => { path: string; body?: string } {
  let count = 0;
  return () => {
    const path = paths[count % paths.length] ?? '/';
    const body = bodies?.[count % bodies.length];
    count += 1;
    return body === undefined ? { path } : { path, body };
  };
}
