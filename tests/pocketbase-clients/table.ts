import { accountRows } from './account-rows.ts';
import { type Outcome, outcomeOf } from './normalize.ts';
import { otherRows } from './other-rows.ts';
import { recordRows } from './record-rows.ts';
import type { Row } from './row.ts';
import type { Cast } from './side.ts';
import { valueRows } from './value-rows.ts';

/** Every call that the servers are compared by, in order. */
export const table: readonly Row[] = [...recordRows, ...valueRows, ...accountRows, ...otherRows];

/** Runs the table, and returns each row's outcome by its name. */
export async function outcomesOf(cast: Cast): Promise<Record<string, Outcome>> {
  const outcomes: Record<string, Outcome> = {};
  for (const { name, run } of table) outcomes[name] = await outcomeOf(() => run(cast));
  return outcomes;
}
