import type { Options } from '../options.ts';
import { table } from '../report/table.ts';
import { type Row, titleOf } from '../rows/row.ts';
import { type ComparedSide, compareRow } from './compare-row.ts';
import { comparedCells, comparedHead, notMeasured } from './compared-table.ts';

interface Comparison {
  readonly here: ComparedSide;
  readonly there: ComparedSide;
  /** The other side's name in the table. */
  readonly other: string;
}

/** Measures rows on two servers, round by round in turn. Returns a table's lines. */
export async function compareRows(
  rows: readonly Row[],
  { here, there, other }: Comparison,
  options: Options,
  tell: (text: string) => void,
): Promise<string[]> {
  const cells: string[][] = [];
  for (const row of rows) {
    tell(titleOf(row));
    // A failure, such as a feature that the other side lacks, must not lose the earlier rows.
    cells.push(
      await compareRow(row, [here, there], options).then(
        (compared) => comparedCells(row, other, compared),
        (error) => notMeasured(row, other, error),
      ),
    );
  }
  return table(comparedHead(other), cells, options.markdown ? 'markdown' : 'text');
}
