import { resolve } from 'node:path';
import { startGenerator } from '../generator/generator.ts';
import type { Options } from '../options.ts';
import { table } from '../report/table.ts';
import { allRows, isWanted } from '../rows/all-rows.ts';
import { type Row, titleOf } from '../rows/row.ts';
import { type ComparedSide, compareRow } from './compare-row.ts';
import { comparedCells, comparedHead, notMeasured } from './compared-table.ts';
import { startSide } from './start-side.ts';

interface CompareOptions extends Options {
  /** Root of the other checkout; its packages must be installed. */
  readonly against: string;
}

/** Measures the selected rows on this checkout and on another one, round by round in turn. Returns the lines of a table. */
export async function compareCheckouts(
  options: CompareOptions,
  tell: (text: string) => void,
  cleanUp: AsyncDisposableStack,
): Promise<string[]> {
  const generator = startGenerator();
  cleanUp.defer(() => generator.stop());
  tell('starting and seeding this checkout and the other one');
  const here = await startSide(options, generator, cleanUp);
  const there = await startSide(options, generator, cleanUp, resolve(options.against));
  const rows: string[][] = [];
  for (const row of allRows) {
    if (!isWanted(options, row.name)) continue;
    tell(titleOf(row));
    rows.push(await cellsOf(row, here, there));
  }
  return table(comparedHead, rows, options.markdown ? 'markdown' : 'text');
}

/** Measures a row. A failure, such as a missing feature of the other checkout, must not lose the earlier rows. */
async function cellsOf(row: Row, here: ComparedSide, there: ComparedSide): Promise<string[]> {
  try {
    return comparedCells(row, await compareRow(row, here, there));
  } catch (error) {
    return notMeasured(row, error);
  }
}
