import { startSide } from '../compare/start-side.ts';
import { flushFiles } from '../flush-files.ts';
import { type Generator, startGenerator } from '../generator/generator.ts';
import type { Options } from '../options.ts';
import { cpuTimeMs, untilIdle } from '../process-usage.ts';
import { describeOtherLoad } from '../report/machine.ts';
import { table } from '../report/table.ts';
import { allRows, isWanted } from '../rows/all-rows.ts';
import { type Measuring, type Round, runRound, summarize, warmUpSeconds } from '../rows/measure-row.ts';
import { type Row, titleOf } from '../rows/row.ts';
import { pocketBaseCells, pocketBaseHead } from './compared-cells.ts';
import { findEquivalent } from './equivalents.ts';
import { type PocketBase, startPocketBase } from './start-pocketbase.ts';

interface CompareOptions extends Options {
  readonly pocketbase: string;
}

/** Measures the selected rows on the product and on PocketBase, round by round in turn. Returns the lines of a table. */
export async function comparePocketBase(
  options: CompareOptions,
  tell: (text: string) => void,
  cleanUp: AsyncDisposableStack,
): Promise<string[]> {
  const otherLoad = describeOtherLoad();
  for (const line of otherLoad) tell(line);
  const generator = startGenerator();
  cleanUp.defer(() => generator.stop());
  tell('starting and seeding PocketBase');
  const pocketbase = await startPocketBase(options.pocketbase);
  cleanUp.defer(() => pocketbase.stop());
  tell('starting and seeding the product');
  const measuring = await startSide(options, generator, cleanUp);
  await untilIdle([pocketbase.pid]);
  const rows: string[][] = [];
  for (const row of allRows) {
    if (!isWanted(options, row.name) || !findEquivalent(row.name)) continue;
    tell(titleOf(row));
    rows.push(await compareRow(row, measuring, pocketbase));
  }
  return [...otherLoad, ...table(pocketBaseHead, rows, options.markdown ? 'markdown' : 'text')];
}

/** Measures a row: a warm-up on each side, then rounds in turn. Returns its cells. */
async function compareRow(row: Row, measuring: Measuring, pocketbase: PocketBase): Promise<string[]> {
  const { product, admin, database, rounds } = measuring;
  const cleanUp = await row.prepare?.({ admin, database, url: product.url });
  const ofProduct: Round[] = [];
  const ofOther: Round[] = [];
  await runRound(row, product, { ...measuring, seconds: warmUpSeconds });
  await runOther(row, { ...measuring, seconds: warmUpSeconds }, pocketbase);
  const sides = [
    async () => ofProduct.push(await runRound(row, product, measuring)),
    async () => ofOther.push(await runOther(row, measuring, pocketbase)),
  ];
  for (let round = 0; round < rounds; round += 1)
    for (const run of round % 2 === 0 ? sides : sides.toReversed()) await run();
  await cleanUp?.();
  return pocketBaseCells(row, summarize(ofProduct), summarize(ofOther));
}

interface OtherMeasuring {
  readonly generator: Generator;
  readonly seconds: number;
  readonly connections: number;
}

async function runOther(row: Row, measuring: OtherMeasuring, pocketbase: PocketBase): Promise<Round> {
  const equivalent = findEquivalent(row.name);
  if (!equivalent) throw new Error(`PocketBase has no row ${row.name}`);
  const requests = await equivalent(pocketbase);
  if (row.isWrite) await flushFiles();
  const before = cpuTimeMs(pocketbase.pid) ?? 0;
  const connections = row.connections ?? measuring.connections;
  const { generator, seconds } = measuring;
  const outcome = await generator.run({ origin: pocketbase.url, seconds, connections, requests });
  return { ...outcome, cpuMs: (cpuTimeMs(pocketbase.pid) ?? 0) - before };
}
