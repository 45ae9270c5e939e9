import { cpuTimeWithChildrenMs } from '../process-usage.ts';
import { findDatabaseProcess } from '../product/product-layout.ts';
import type { Product } from '../product/start-product.ts';
import {
  type Measuring,
  type Round,
  runRound,
  type SideResult,
  summarize,
  warmUpSeconds,
} from '../rows/measure-row.ts';
import type { Row } from '../rows/row.ts';

export interface ComparedSide extends Measuring {
  readonly product: Product;
}

export interface ComparedResult extends SideResult {
  /** CPU time of the side's PostgreSQL for one request, in microseconds; undefined without /proc. */
  readonly databaseCpuUs: number | undefined;
}

export interface ComparedRow {
  readonly here: ComparedResult;
  readonly there: ComparedResult;
}

interface Running {
  readonly side: ComparedSide;
  readonly rounds: Round[];
  databaseCpuMs: number;
}

/** Measures a row on two products: a warm-up on each, then rounds in turn. */
export async function compareRow(row: Row, here: ComparedSide, there: ComparedSide): Promise<ComparedRow> {
  const ofHere: Running = { side: here, rounds: [], databaseCpuMs: 0 };
  const ofThere: Running = { side: there, rounds: [], databaseCpuMs: 0 };
  const running = [ofHere, ofThere];
  const prepared = await Promise.all(running.map(({ side }) => row.prepare?.({ ...side, url: side.product.url })));
  for (const { side } of running) await runRound(row, side.product, { ...side, seconds: warmUpSeconds });
  for (let round = 0; round < here.rounds; round += 1) {
    // The second side finds warmer caches, and leftover work of the first.
    for (const each of round % 2 === 0 ? running : running.toReversed()) await addRound(row, each);
  }
  for (const cleanUp of prepared) await cleanUp?.();
  return { here: resultOf(ofHere), there: resultOf(ofThere) };
}

async function addRound(row: Row, running: Running): Promise<void> {
  const { side } = running;
  const databasePid = await findDatabaseProcess(side.product.dataDirectory);
  const before = cpuTimeWithChildrenMs(databasePid);
  running.rounds.push(await runRound(row, side.product, side));
  running.databaseCpuMs += (cpuTimeWithChildrenMs(databasePid) ?? Number.NaN) - (before ?? Number.NaN);
}

function resultOf({ rounds, databaseCpuMs }: Running): ComparedResult {
  const requestCount = rounds.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0);
  const databaseCpuUs = (databaseCpuMs * 1000) / requestCount;
  return { ...summarize(rounds), databaseCpuUs: Number.isNaN(databaseCpuUs) ? undefined : databaseCpuUs };
}
