import { setTimeout } from 'node:timers/promises';
import { startGenerator } from '../generator/generator.ts';
import type { JobResult, Requests } from '../generator/job.ts';
import { untilIdle } from '../process-usage.ts';
import type { Measuring } from '../rows/measure-row.ts';
import { somePaths } from '../rows/reads.ts';
import { credentials, registerUser } from '../rows/register-user.ts';
import { findAuthor, newPost, sizes } from '../seed.ts';
import { percentiles } from '../statistics.ts';
import { prepareExpensiveReads } from './expensive-reads.ts';

/** A kind of request from another client, with its p95 in milliseconds, alone and during 20 guests' expensive reads. */
export interface ProbeResult {
  readonly title: string;
  readonly idleP95: number;
  /** Each guest has its own address. */
  readonly manyP95: number;
  /** The guests share one address. */
  readonly oneP95: number;
}

/** Answers to expensive reads by status, and how many reads had no answer in time. */
export type ExpensiveReadsResult = Pick<JobResult, 'statuses' | 'unanswered'>;

export interface BesideResult {
  readonly probes: readonly ProbeResult[];
  /** Answers to the expensive reads, from 20 addresses and from one. */
  readonly many: ExpensiveReadsResult;
  readonly one: ExpensiveReadsResult;
  /** Answers to the other client that were not 2xx. */
  readonly failures: readonly string[];
}

interface Probe {
  readonly title: string;
  readonly requests: Requests;
}

const guests = 20;
const users = 'neighbours';
const otherAddress = '10.20.9.9';
const addresses = Array.from({ length: guests }, (_, n) => `10.20.0.${n + 1}`);

/** How long the expensive reads run before other clients are measured, in seconds. */
const rampUpSeconds = 2;

/**
 * Longest wait for the answer to an expensive read, in seconds. The product answers or refuses each sooner. A client that
 * reconnects would release what the read holds.
 */
const answerTimeoutSec = 60;

/** Measures another client's latency, alone and during 20 guests' most expensive reads (cost §1.5). */
export async function measureBeside(measuring: Measuring, cleanUp: AsyncDisposableStack): Promise<BesideResult> {
  const { admin, database, product } = measuring;
  await admin.call('PATCH', '/api/v1/admin/settings', { 'security.trusted_proxies': '127.0.0.0/8,::1' });
  await registerUser({ admin, url: product.url }, users);
  const expensive = await prepareExpensiveReads(admin, database);
  const probes = await makeProbes(measuring);
  const load = startGenerator();
  cleanUp.defer(() => load.stop());
  await database.query('vacuum (analyze)');
  await untilIdle([product.pid]);

  const measure = (clients: readonly string[]) => besideLoad(measuring, { probes, load, expensive, clients });
  const idle = await measure([]);
  const many = await measure(addresses);
  await untilIdle([product.pid]);
  const one = await measure(addresses.slice(0, 1));
  await admin.call('PATCH', '/api/v1/admin/settings', { 'security.trusted_proxies': '' });
  await load.stop();
  const p95 = ({ outcomes }: Besides, index: number) => percentiles([outcomes[index]?.latenciesMs ?? []]).p95;
  return {
    probes: probes.map(({ title }, index) => ({
      title,
      idleP95: p95(idle, index),
      manyP95: p95(many, index),
      oneP95: p95(one, index),
    })),
    many: many.expensive,
    one: one.expensive,
    failures: [idle, many, one].flatMap(({ outcomes }) => failuresOf(probes, outcomes)),
  };
}

interface Besides {
  /** How long each probe runs, in seconds. */
  readonly outcomes: readonly JobResult[];
  readonly expensive: ExpensiveReadsResult;
}

interface Load {
  readonly probes: readonly Probe[];
  readonly load: ReturnType<typeof startGenerator>;
  readonly expensive: readonly string[];
  /** The guests' addresses; none for no load. */
  readonly clients: readonly string[];
}

/** Runs the probes in turn, one request at a time, while 20 connections send expensive reads. */
async function besideLoad(
  { generator, product, seconds, rounds }: Measuring,
  { probes, load, expensive, clients }: Load,
): Promise<Besides> {
  const probeSeconds = seconds * rounds;
  const loading =
    clients.length === 0
      ? undefined
      : load.run({
          origin: product.url,
          seconds: probes.length * (probeSeconds + 1) + 2 * rampUpSeconds,
          connections: guests,
          timeoutSec: answerTimeoutSec,
          requests: { method: 'GET', paths: expensive, clients },
        });
  await setTimeout(rampUpSeconds * 1000);
  const outcomes: JobResult[] = [];
  for (const { requests } of probes)
    outcomes.push(await generator.run({ origin: product.url, seconds: probeSeconds, connections: 1, requests }));
  const { statuses = {}, unanswered = 0 } = (await loading) ?? {};
  return { outcomes, expensive: { statuses, unanswered } };
}

async function makeProbes({ database }: Measuring): Promise<Probe[]> {
  const { posts, authors } = sizes['10k'];
  const clients = [otherAddress];
  const list = `/api/v1/records/${posts}?perPage=20`;
  const filter = encodeURIComponent('public = true');
  return [
    {
      title: 'get one of 10k',
      requests: { method: 'GET', paths: await somePaths(database, posts, 5000), clients },
    },
    { title: 'list 20 of 10k, with total', requests: { method: 'GET', paths: [list], clients } },
    {
      title: 'list 20 of 10k, with a filter, skipTotal',
      requests: { method: 'GET', paths: [`${list}&filter=${filter}&skipTotal=1`], clients },
    },
    {
      title: 'create in 10k',
      requests: {
        method: 'POST',
        paths: [`/api/v1/records/${posts}`],
        bodies: [newPost(await findAuthor(database, authors))],
        clients,
      },
    },
    {
      title: 'sign in with a password',
      requests: {
        method: 'POST',
        paths: [`/api/v1/auth/${users}/login`],
        bodies: [JSON.stringify(credentials)],
        clients,
      },
    },
  ];
}

const failuresOf = (probes: readonly Probe[], outcomes: readonly JobResult[]): string[] =>
  outcomes.flatMap(({ statuses, unanswered }, index) =>
    [...Object.entries(statuses), ...(unanswered ? [['no answer', unanswered] as const] : [])]
      .filter(([status]) => !status.startsWith('2'))
      .map(([status, count]) => `${probes[index]?.title}: ${count} × ${status}`),
  );
