import type { ComparedSide } from '../compare/compare-row.ts';
import { compareRows } from '../compare/compare-rows.ts';
import { startSide } from '../compare/start-side.ts';
import { flushFiles } from '../flush-files.ts';
import { type Generator, startGenerator } from '../generator/generator.ts';
import type { Options } from '../options.ts';
import { untilIdle } from '../process-usage.ts';
import { describeOtherLoad } from '../report/machine.ts';
import { allRows, isWanted } from '../rows/all-rows.ts';
import { meterCpu } from '../rows/measure-row.ts';
import { findEquivalent } from './equivalents.ts';
import { type PocketBase, startPocketBase } from './start-pocketbase.ts';

interface CompareOptions extends Options {
  readonly pocketbase: string;
}

/** Measures the selected rows on the product and on PocketBase, round by round in turn. Returns a table's lines. */
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
  const here = await startSide(options, generator, cleanUp);
  const there = sideOf(pocketbase, generator, options.connections);
  await untilIdle([pocketbase.pid]);
  const rows = allRows.filter(({ name }) => isWanted(options, name) && findEquivalent(name));
  return [...otherLoad, ...(await compareRows(rows, { here, there, other: 'PocketBase' }, options, tell))];
}

const sideOf = (pocketbase: PocketBase, generator: Generator, usualConnections: number): ComparedSide => ({
  async run({ name, isWrite, connections = usualConnections }, seconds) {
    const equivalent = findEquivalent(name);
    if (!equivalent) throw new Error(`PocketBase has no row ${name}`);
    const requests = await equivalent(pocketbase);
    if (isWrite) await flushFiles();
    const cpu = meterCpu({ pid: pocketbase.pid, pids: [pocketbase.pid] });
    const outcome = await generator.run({ origin: pocketbase.url, seconds, connections, requests });
    return { ...outcome, ...cpu() };
  },
});
