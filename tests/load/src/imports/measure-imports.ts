import { setTimeout } from 'node:timers/promises';
import { untilIdle } from '../process-usage.ts';
import type { AdminApi } from '../product/admin-api.ts';
import type { Measuring } from '../rows/measure-row.ts';
import { somePaths } from '../rows/reads.ts';
import { description, findAuthor, sizes } from '../seed.ts';
import { percentiles } from '../statistics.ts';

/** Rows that imports write per second when alone, and a get's p95 in milliseconds, alone and during an import. */
export interface ImportResults {
  readonly rows: number;
  readonly withEventsPerSec: number;
  readonly withoutEventsPerSec: number;
  readonly idleP95: number;
  readonly besideP95: number;
  readonly failures: readonly string[];
}

/** More rows keep an import busy for longer than the gets during it are measured. */
const rows = 60_000;
const collection = 'bench_imported';
const probeSeconds = 4;
const pollMs = 500;

interface Job {
  readonly id: string;
  readonly state: string;
  readonly finished: number | null;
  readonly rate: number | null;
  readonly rows: { readonly done: number };
}

/** Measures imports of post lists, in which each post has a relation to an author. */
export async function measureImports(measuring: Measuring): Promise<ImportResults> {
  const { admin, database, product, generator } = measuring;
  const { posts, authors } = sizes['10k'];
  const author = await findAuthor(database, authors);
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'description', type: 'text' },
    { name: 'author', type: 'relation', collection: authors },
  ];
  await admin.call('POST', '/api/v1/collections', { name: collection, type: 'base', fields });
  const body = Array.from({ length: rows }, (_, n) => ({ title: `An imported post ${n}`, description, author }));
  const begin = (parameters: string) =>
    admin.call<Job>('POST', `/api/v1/records/${collection}/import?format=json${parameters}`, body);
  const run = async (parameters: string): Promise<Job> => untilEnded(admin, await begin(parameters));
  const idle = async () => {
    await untilIdle([product.pid]);
  };

  await idle();
  const withoutEvents = await run('&events=none');
  await idle();
  const withEvents = await run('');
  await idle();
  const requests = { method: 'GET', paths: await somePaths(database, posts, 5000) } as const;
  const get = () => generator.run({ origin: product.url, seconds: probeSeconds, connections: 1, requests });
  const alone = await get();
  const job = await begin('');
  await setTimeout(500);
  const beside = await get();
  const during = await admin.call<Job>('GET', `/api/v1/jobs/${job.id}`);
  await admin.call('POST', `/api/v1/jobs/${job.id}/cancel`).catch(() => {});
  return {
    rows,
    withEventsPerSec: withEvents.rate ?? 0,
    withoutEventsPerSec: withoutEvents.rate ?? 0,
    idleP95: percentiles([alone.latenciesMs]).p95,
    besideP95: percentiles([beside.latenciesMs]).p95,
    failures: [
      ...[withEvents, withoutEvents].flatMap(({ state, rows: { done } }) =>
        state === 'done' && done === rows ? [] : [`the job is ${state} after ${done} rows`],
      ),
      ...(during.finished === null ? [] : ['the import ended before the gets']),
    ],
  };
}

async function untilEnded(admin: AdminApi, { id }: Job): Promise<Job> {
  for (;;) {
    const job = await admin.call<Job>('GET', `/api/v1/jobs/${id}`);
    if (job.finished !== null) return job;
    await setTimeout(pollMs);
  }
}
