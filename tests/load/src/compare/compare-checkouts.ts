import { resolve } from 'node:path';
import { startGenerator } from '../generator/generator.ts';
import type { Options } from '../options.ts';
import { allRows, isWanted } from '../rows/all-rows.ts';
import { compareRows } from './compare-rows.ts';
import { startSide } from './start-side.ts';

interface CompareOptions extends Options {
  /** The other checkout's root; its packages must be installed. */
  readonly against: string;
}

/** Measures the selected rows on this checkout and on another one, round by round in turn. Returns a table's lines. */
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
  const rows = allRows.filter(({ name }) => isWanted(options, name));
  return compareRows(rows, { here, there, other: 'other' }, options, tell);
}
