import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Query } from '@recordbus/database';
import type { Problems } from '@recordbus/schema';
import type { Check } from '../ddl/checks.ts';

/** Rows per batch when values are checked here instead of in the database. */
const batchRows = 2000;

/**
 * Counts the rows that violate a change and adds each count to `problems`. From here to the transaction's end the
 * tables can be read but not written.
 */
export async function checkRows(query: Query, checks: readonly Check[], problems: Problems): Promise<void> {
  for (const table of new Set(checks.map((check) => check.table)))
    await query({ text: `lock table ${table} in share row exclusive mode`, values: [] });
  for (const check of checks) {
    const rows = await countViolations(query, check);
    if (rows > 0) problems.add(check.place, violationsOf(check, rows));
  }
}

/** Counts the rows that violate a change. */
export const countViolations = (query: Query, check: Check): Promise<number> =>
  check.refuses ? countByReadingValues(query, check, check.refuses) : countInDatabase(query, check);

/** Returns a change's problem that this many rows violate it. */
export function violationsOf(check: Pick<Check, 'place'>, rows: number): string {
  if (isRequired(check)) return withoutValue(rows);
  return rows === 1 ? '1 row violates it' : `${rows} rows violate it`;
}

/** Whether a check is about missing values, which data migrations may fill in. */
export const isRequired = ({ place }: Pick<Check, 'place'>): boolean => place.endsWith('.required');

/** Returns the problem for a field that becomes required. */
export const withoutValue = (records: number): string =>
  records === 1 ? '1 record has no value' : `${records} records have no value`;

async function countInDatabase(query: Query, { table, where }: Check): Promise<number> {
  const [row] = await query<{ rows: number }>({
    text: `select count(*) as rows from ${table} where ${where}`,
    values: [],
  });
  return row?.rows ?? 0;
}

async function countByReadingValues(
  query: Query,
  { table, column, where }: Check,
  refuses: (value: unknown) => boolean,
): Promise<number> {
  let rows = 0;
  let lastId = '';
  for (;;) {
    const batch = await query<{ id: string; value: unknown }>({
      text: `select id, ${column} as value from ${table} where (${where}) and id > $1 order by id limit ${batchRows}`,
      values: [lastId],
    });
    for (const { value } of batch) {
      if (refuses(value)) rows += 1;
      // One value may take 50 ms; other requests run between two values.
      await nextTurn();
    }
    const last = batch.at(-1);
    if (!last || batch.length < batchRows) return rows;
    lastId = last.id;
  }
}
