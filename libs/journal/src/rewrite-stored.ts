import type { Query } from '@recordbus/database';
import { type Collection, type Field, fieldTypeOf, quoteIdentifier, tableOf } from '@recordbus/schema';
import { historyTableOf } from './history-table.ts';

/** Rows that are read, and written, at once. */
const portionRows = 500;

/** From the text of what is stored to the text of what is to be stored; undefined leaves it, as does the same text. */
type Rewrite = (stored: string) => string | undefined;

/**
 * Rewrites what is stored of a field, in the records and in their history, a portion at a time; what else a row holds
 * stays, its version too, and nothing becomes an event. A value that somebody writes meanwhile is left to them.
 * Gives how many values were not rewritten because `rewrite` gave undefined.
 */
export async function rewriteStored(
  query: Query,
  collection: Collection,
  field: Field,
  rewrite: Rewrite,
): Promise<number> {
  const inRecords = await rewriteRows(query, recordsOf(collection, field), rewrite);
  const [found] = await query<{ isThere: boolean }>({
    text: `select to_regclass($1::text) is not null as "isThere"`,
    values: [historyTableOf(collection)],
  });
  return found?.isThere ? inRecords + (await rewriteRows(query, historyOf(collection, field), rewrite)) : inRecords;
}

/** Where values stand, row by row. */
interface Rows {
  /** Gives `key` and `value` of rows behind a key ($1, $2), at most as many as $3. */
  readonly select: string;
  /** Puts the texts in $4 in the place of those in $3, in the rows of the keys $1 and $2. */
  readonly update: string;
}

interface Row {
  readonly id: string;
  readonly at: number;
  readonly value: string;
}

const recordsOf = (collection: Collection, field: Field): Rows => {
  const column = quoteIdentifier(field.name);
  const table = tableOf(collection);
  return {
    select: `select t.id, 0::bigint as at, t.${column}::text as value from ${table} t
where t.${column} is not null and (t.id, 0::bigint) > ($1::text, $2::bigint) order by t.id limit $3::bigint`,
    update: `update ${table} t set ${column} = v.new::${fieldTypeOf(field).columnType(field)} from ${given}
where t.id = v.id and t.${column}::text = v.old`,
  };
};

/** A snapshot has a field under its id. */
const historyOf = (collection: Collection, field: Field): Rows => {
  const table = historyTableOf(collection);
  const isJson = fieldTypeOf(field).columnType(field) === 'jsonb';
  const key = `'${field.id.replaceAll("'", "''")}'`;
  const value = isJson ? `(h.snapshot::jsonb -> ${key})::text` : `(h.snapshot ->> ${key})`;
  return {
    select: `select h.record_id as id, h.at, ${value} as value from ${table} h
where h.snapshot ->> ${key} is not null and (h.record_id, h.at) > ($1::text, $2::bigint)
order by h.record_id, h.at limit $3::bigint`,
    update: `update ${table} h
set snapshot = (h.snapshot::jsonb || jsonb_build_object(${key}, ${isJson ? 'v.new::jsonb' : 'v.new'}))::json from ${given}
where h.record_id = v.id and h.at = v.at and ${value} = v.old`,
  };
};

const given = 'unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) v(id, at, old, new)';

async function rewriteRows(query: Query, { select, update }: Rows, rewrite: Rewrite): Promise<number> {
  let refused = 0;
  for (let last: Pick<Row, 'id' | 'at'> = { id: '', at: 0 }; ; ) {
    const rows = await query<Row>({ text: select, values: [last.id, last.at, portionRows] });
    const rewritten = rows.flatMap((row) => {
      const next = rewrite(row.value);
      if (next === undefined) refused += 1;
      return next === undefined || next === row.value ? [] : [{ ...row, next }];
    });
    if (rewritten.length > 0)
      await query({
        text: update,
        values: [
          rewritten.map(({ id }) => id),
          rewritten.map(({ at }) => at),
          rewritten.map(({ value }) => value),
          rewritten.map(({ next }) => next),
        ],
      });
    const end = rows.at(-1);
    if (!end || rows.length < portionRows) return refused;
    last = end;
  }
}
