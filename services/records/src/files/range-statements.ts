import type { Query } from '@recordbus/database';
import { uploadTimeout } from './announced-files.ts';

/** A range whose process died, or lost the answer to a create. */
export interface DueRange {
  readonly id: number;
  readonly collection_id: string;
  readonly ids_start: string;
}

/** Announces the files of records of a collection whose ids have this start. Returns the id of the row. */
export async function announceRange(query: Query, collectionId: string, idsStart: string): Promise<number> {
  const [row] = await query<{ id: number }>({
    name: 'announce-range',
    text: `insert into system.announced_ranges (collection_id, ids_start, due_at)
values ($1, $2, now() + ${uploadTimeout}) returning id`,
    values: [collectionId, idsStart],
  });
  if (!row) throw new Error('the announcement of a range returned no row');
  return row.id;
}

/** SQL that fails unless a range (bigint) still announces its files, in the statement that writes their names. */
export const keepRangeSql = (range: string): string => `system.keep_range(${range})`;

/** Renews ranges, because their uploads are still running. */
export async function renewRanges(query: Query, ids: readonly number[]): Promise<void> {
  await query({
    text: `update system.announced_ranges set due_at = now() + ${uploadTimeout} where id = any($1::bigint[])`,
    values: [ids],
  });
}

/** Ends ranges whose uploads have all kept or removed their files. */
export async function endRanges(query: Query, ids: readonly number[]): Promise<void> {
  await query({ text: 'delete from system.announced_ranges where id = any($1::bigint[])', values: [ids] });
}

/** Makes ranges due now. */
export async function makeRangesDue(query: Query, ids: readonly number[]): Promise<void> {
  await query({
    text: 'update system.announced_ranges set due_at = now() where id = any($1::bigint[])',
    values: [ids],
  });
}

/**
 * Takes a due range for a minute, in a transaction. After its commit, no create can keep files of the range, and every
 * create that kept some has committed.
 */
export async function takeDueRange(query: Query): Promise<DueRange | undefined> {
  const [range] = await query<DueRange>({
    text: `select id, collection_id, ids_start from system.announced_ranges
where due_at <= now() order by due_at limit 1 for update skip locked`,
    values: [],
  });
  if (!range) return undefined;
  await query({ text: 'select pg_advisory_xact_lock(system.range_lock($1))', values: [range.id] });
  await query({
    text: `update system.announced_ranges set is_over = true, due_at = now() + interval '1 minute' where id = $1`,
    values: [range.id],
  });
  return range;
}

/** Whether a process has announced the same range and may still be uploading to it. */
export async function isHeldElsewhere(query: Query, { collection_id, ids_start }: DueRange): Promise<boolean> {
  const rows = await query({
    text: `select from system.announced_ranges
where collection_id = $1 and ids_start = $2 and not is_over limit 1`,
    values: [collection_id, ids_start],
  });
  return rows.length > 0;
}
