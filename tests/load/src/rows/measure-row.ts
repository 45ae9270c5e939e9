import type pg from 'pg';
import { flushFiles } from '../flush-files.ts';
import type { Generator } from '../generator/generator.ts';
import type { JobResult } from '../generator/job.ts';
import { cpuTimeMs, cpuTimeOfTreesMs, untilIdle } from '../process-usage.ts';
import type { AdminApi } from '../product/admin-api.ts';
import { median, type Percentiles, percentiles } from '../statistics.ts';
import type { Row } from './row.ts';

/** One of the two compared servers. */
export interface Side extends ServerProcesses {
  readonly url: string;
}

interface ServerProcesses {
  readonly pid: number;
  /** Roots of the process trees that work for its requests: its own, and its database's when it did not start that. */
  readonly pids: readonly number[];
}

export interface SideResult extends Percentiles {
  /** The median over the rounds. */
  readonly requestsPerSec: number;
  /** CPU time that the server's process takes for one request, in microseconds. */
  readonly cpuUs: number | undefined;
  /** CPU time that all its processes take for one request, in microseconds: services, PostgreSQL, nats-server. */
  readonly allCpuUs: number | undefined;
  /** Sentences about answers other than 2xx; empty when there are none. */
  readonly failures: readonly string[];
}

export interface RowResult {
  readonly row: Row;
  readonly product: SideResult;
  /** Undefined for a row that only the product supports. */
  readonly bare: SideResult | undefined;
}

export interface Measuring {
  readonly generator: Generator;
  readonly admin: AdminApi;
  readonly database: pg.Client;
  readonly product: Side;
  readonly bare: Side;
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
}

export const warmUpSeconds = 1;

/** Measures a row: a warm-up on each side, then rounds on the product and the bare server in turn. */
export async function measureRow(row: Row, measuring: Measuring): Promise<RowResult> {
  const { product, bare, seconds, rounds, admin, database } = measuring;
  const cleanUp = await row.prepare?.({ admin, database, url: product.url });
  const sides = (row.isProductOnly ? [product] : [product, bare]).map((side) => ({ side, outcomes: [] as Round[] }));
  for (const { side } of sides) await runRound(row, side, { ...measuring, seconds: warmUpSeconds });
  for (let round = 0; round < rounds; round += 1)
    for (const { side, outcomes } of sides) outcomes.push(await runRound(row, side, { ...measuring, seconds }));
  await cleanUp?.();
  const [ofProduct, ofBare] = sides.map(({ outcomes }) => summarize(outcomes));
  if (!ofProduct) throw new Error('a row needs at least one side');
  return { row, product: ofProduct, bare: ofBare };
}

interface CpuTimes {
  readonly cpuMs: number | undefined;
  readonly allCpuMs: number | undefined;
}

export interface Round extends JobResult, CpuTimes {}

/** Begins to measure a server's CPU time. Returns a function that returns what it used since. */
export function meterCpu({ pid, pids }: ServerProcesses): () => CpuTimes {
  const times = () => [cpuTimeMs(pid) ?? Number.NaN, cpuTimeOfTreesMs(pids) ?? Number.NaN] as const;
  const [before, allBefore] = times();
  return () => {
    const [after, allAfter] = times();
    return { cpuMs: orUndefined(after - before), allCpuMs: orUndefined(allAfter - allBefore) };
  };
}

const orUndefined = (value: number): number | undefined => (Number.isNaN(value) ? undefined : value);

/** Sends a row's requests to one side for the given time. */
export async function runRound(
  row: Row,
  side: Side,
  { generator, database, product, bare, seconds, ...measuring }: Measuring,
): Promise<Round> {
  const connections = row.connections ?? measuring.connections;
  const requests = await row.requests(database);
  if (row.isWrite) await flushFiles();
  const cpu = meterCpu(side);
  const [outcome] = await Promise.all([
    generator.run({ origin: side.url, seconds, connections, requests }),
    row.beside?.(side.url, seconds, database),
  ]);
  // Publishing the remaining events is part of what the writes cost.
  if (row.isWrite) await untilIdle([product.pid, bare.pid]);
  return { ...outcome, ...cpu() };
}

export function summarize(rounds: readonly Round[]): SideResult {
  const requestCount = rounds.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0);
  const perRequestUs = (timeOf: (round: Round) => number | undefined) =>
    orUndefined((rounds.reduce((sum, round) => sum + (timeOf(round) ?? Number.NaN), 0) * 1000) / requestCount);
  return {
    requestsPerSec: median(rounds.map((round) => round.requestsPerSec)),
    ...percentiles(rounds.map(({ latenciesMs }) => latenciesMs)),
    cpuUs: perRequestUs(({ cpuMs }) => cpuMs),
    allCpuUs: perRequestUs(({ allCpuMs }) => allCpuMs),
    failures: findFailures(rounds),
  };
}

function findFailures(rounds: readonly Round[]): string[] {
  const counts = new Map<string, number>();
  const add = (what: string, count: number) => counts.set(what, (counts.get(what) ?? 0) + count);
  for (const { statuses, unanswered } of rounds) {
    for (const [status, count] of Object.entries(statuses)) if (!status.startsWith('2')) add(`status ${status}`, count);
    if (unanswered > 0) add('no answer', unanswered);
  }
  return [...counts].map(([what, count]) => `${count} × ${what}`);
}
