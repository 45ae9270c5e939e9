import { type Round, type SideResult, summarize, warmUpSeconds } from '../rows/measure-row.ts';
import type { Row } from '../rows/row.ts';

/** A server that gets a row's requests. */
export interface ComparedSide {
  /** Creates what the row needs. Returns a function that removes it. */
  prepare?(row: Row): Promise<(() => Promise<void>) | undefined>;
  run(row: Row, seconds: number): Promise<Round>;
}

export interface ComparedRow {
  readonly here: SideResult;
  readonly there: SideResult;
}

interface Timing {
  readonly seconds: number;
  readonly rounds: number;
}

/** Measures a row on two servers: a warm-up on each, then rounds in turn. */
export async function compareRow(
  row: Row,
  [here, there]: readonly [ComparedSide, ComparedSide],
  { seconds, rounds }: Timing,
): Promise<ComparedRow> {
  const running = [here, there].map((side) => ({ side, rounds: [] as Round[] }));
  const prepared = await Promise.all(running.map(({ side }) => side.prepare?.(row)));
  for (const { side } of running) await side.run(row, warmUpSeconds);
  for (let round = 0; round < rounds; round += 1) {
    // The second side finds warmer caches, and the first one's leftover work.
    for (const each of round % 2 === 0 ? running : running.toReversed())
      each.rounds.push(await each.side.run(row, seconds));
  }
  for (const cleanUp of prepared) await cleanUp?.();
  const [first = [], second = []] = running.map((each) => each.rounds);
  return { here: summarize(first), there: summarize(second) };
}
