import { resolve } from 'node:path';
import pg from 'pg';
import { type Generator, startGenerator } from '../generator/generator.ts';
import type { Options } from '../options.ts';
import { untilIdle } from '../process-usage.ts';
import { startProduct } from '../product/start-product.ts';
import { table } from '../report/table.ts';
import { allRows, isWanted } from '../rows/all-rows.ts';
import type { Row } from '../rows/row.ts';
import { seed } from '../seed.ts';
import { type ComparedSide, compareRow } from './compare-row.ts';
import { comparedCells, comparedHead, notMeasured } from './compared-table.ts';

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
  const here = await startSide(options, generator, cleanUp, undefined);
  const there = await startSide(options, generator, cleanUp, resolve(options.against));
  const rows: string[][] = [];
  for (const row of allRows) {
    if (!isWanted(options, row.name)) continue;
    tell(row.title);
    rows.push(await cellsOf(row, here, there));
  }
  return table(comparedHead, rows, options.markdown ? 'markdown' : 'text');
}

/** Measures a row. The other checkout may lack what the row needs, which must not cost the rows before it. */
async function cellsOf(row: Row, here: ComparedSide, there: ComparedSide): Promise<string[]> {
  try {
    return comparedCells(row, await compareRow(row, here, there));
  } catch (error) {
    return notMeasured(row, error);
  }
}

/** Starts the product of a checkout and fills its database. */
async function startSide(
  options: Options,
  generator: Generator,
  cleanUp: AsyncDisposableStack,
  checkout: string | undefined,
): Promise<ComparedSide> {
  const product = await startProduct({ ...options, checkout });
  cleanUp.defer(() => product.stop());
  await product.admin.call('PATCH', '/api/v1/admin/settings', { 'rate_limit.enabled': '0' });
  const database = new pg.Client({ connectionString: product.databaseUrl });
  await database.connect();
  cleanUp.defer(() => database.end());
  await seed(product.admin, database);
  await untilIdle([product.pid]);
  return { ...options, generator, database, product, bare: product, admin: product.admin };
}
