import type { Query } from '@recordbus/database';
import type { Problems } from '@recordbus/schema';
import type { Check } from '../ddl/checks.ts';

/** Rows whose values are looked at here, not in the database, come in portions of so many. */
const portionRows = 2000;

/**
 * Counts the rows that stand against a change and adds to `problems` how many they are. Nobody writes to the tables
 * from here to the end of the transaction; reading goes on.
 */
export async function checkRows(query: Query, checks: readonly Check[], problems: Problems): Promise<void> {
  for (const table of new Set(checks.map((check) => check.table)))
    await query({ text: `lock table ${table} in share row exclusive mode`, values: [] });
  for (const check of checks) {
    const rows = check.refuses ? await countByReading(query, check, check.refuses) : await count(query, check);
    if (rows > 0) problems.add(check.place, rows === 1 ? '1 row stands against it' : `${rows} rows stand against it`);
  }
}

async function count(query: Query, { table, where }: Check): Promise<number> {
  const [row] = await query<{ rows: number }>({
    text: `select count(*) as rows from ${table} where ${where}`,
    values: [],
  });
  return row?.rows ?? 0;
}

async function countByReading(
  query: Query,
  { table, column, where }: Check,
  refuses: (value: unknown) => boolean,
): Promise<number> {
  let rows = 0;
  let lastId = '';
  for (;;) {
    const portion = await query<{ id: string; value: unknown }>({
      text: `select id, ${column} as value from ${table} where (${where}) and id > $1 order by id limit ${portionRows}`,
      values: [lastId],
    });
    rows += portion.filter(({ value }) => refuses(value)).length;
    const last = portion.at(-1);
    if (!last || portion.length < portionRows) return rows;
    lastId = last.id;
  }
}
