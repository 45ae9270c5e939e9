import { isDatabaseError, sqlState } from '@recordbus/database';
import { type Collection, type Field, tableOf } from '@recordbus/schema';
import { isEmpty } from '../ddl/checks.ts';
import { compareFields } from '../ddl/compare-fields.ts';
import type { SchemaChange } from '../schema/schema-changes.ts';

/** A dropped field that had values. */
export interface LostValues {
  readonly field: string;
  /** How many records had a value; undefined when counting took too long. */
  readonly count: number | undefined;
}

/** How long the count may take, in milliseconds. Writes wait for it. */
const countTimeoutMs = 2000;

/** Counts the values in fields that a change drops. Call it before the columns are dropped. */
export async function countLostValues(
  { query, execute }: Pick<SchemaChange, 'query' | 'execute'>,
  before: Collection,
  after: Collection,
  timeoutMs = countTimeoutMs,
): Promise<LostValues[]> {
  const { dropped } = compareFields(before, after);
  if (before.type === 'view' || dropped.length === 0) return [];
  const table = tableOf(before);
  // A value written after the count would be lost uncounted.
  await execute([
    `lock table ${table} in share row exclusive mode`,
    "select set_config('recordbus.timeout', current_setting('statement_timeout'), true)",
    'savepoint lost_values',
    `set local statement_timeout = ${timeoutMs}`,
  ]);
  const counted = await countValues(query, table, dropped).catch((error: unknown) => {
    if (!isDatabaseError(error, sqlState.queryCanceled)) throw error;
    return undefined;
  });
  await execute([
    ...(counted ? [] : ['rollback to savepoint lost_values']),
    "select set_config('statement_timeout', current_setting('recordbus.timeout'), true)",
  ]);
  return dropped
    .map(({ name }, position) => ({ field: name, count: counted?.[position] }))
    .filter(({ count }) => count !== 0);
}

async function countValues(
  query: SchemaChange['query'],
  table: string,
  fields: readonly Field[],
): Promise<readonly number[]> {
  const counts = fields.map((field) => `count(*) filter (where not (${isEmpty(field)}))`);
  const [row] = await query<{ counts: number[] }>({
    text: `select to_jsonb(array[${counts.join(', ')}]) as counts from ${table}`,
    values: [],
  });
  return row?.counts ?? [];
}

/** Returns a warning for each field that was dropped with its values (collections §6.7). */
export const warningsOfLostValues = (lost: readonly LostValues[]): string[] =>
  lost.map(({ field, count }) => {
    if (count === undefined)
      return `The field "${field}" was dropped. Its values are lost; counting them took too long.`;
    return `The field "${field}" was dropped; ${count === 1 ? '1 value is' : `${count} values are`} lost.`;
  });
