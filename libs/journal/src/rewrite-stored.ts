import type { Query } from '@recordbus/database';
import { type Collection, type Field, fieldTypeOf, quoteIdentifier, tableOf } from '@recordbus/schema';
import { historyTableOf } from './history-table.ts';

/** How many rows are read and written at a time. */
const batchSize = 500;

/** Returns a stored value's new text; undefined, or the same text, leaves it unchanged. */
type Rewrite = (stored: string) => string | undefined;

/**
 * Rewrites a field's stored values, in the records and in their history, in batches. The rest of each row stays,
 * including its version, and no event is written. A value that changes meanwhile is skipped. Returns for how many
 * values `rewrite` returned undefined.
 */
export async function rewriteStored(
  query: Query,
  collection: Collection,
  field: Field,
  rewrite: Rewrite,
): Promise<number> {
  const inRecords = await rewriteRows(query, recordsOf(collection, field), rewrite);
  const [found] = await query<{ exists: boolean }>({
    text: `select to_regclass($1::text) is not null as "exists"`,
    values: [historyTableOf(collection)],
  });
  return found?.exists ? inRecords + (await rewriteRows(query, historyOf(collection, field), rewrite)) : inRecords;
}

/** The statements that read and write a table's values. */
interface Rows {
  /** Selects key (`id`, `at`, `revision`) and `value` for at most $4 rows after a key ($1 to $3). */
  readonly select: string;
  /** Replaces the texts in $4 by those in $5, in the rows with the keys $1 to $3. */
  readonly update: string;
}

interface Row {
  readonly id: string;
  readonly at: number;
  readonly revision: number;
  readonly value: string;
}

const recordsOf = (collection: Collection, field: Field): Rows => {
  const column = quoteIdentifier(field.name);
  const table = tableOf(collection);
  return {
    select: `select t.id, 0 as at, 0 as revision, t.${column}::text as value from ${table} t
where t.${column} is not null and (t.id, 0, 0) > ($1::text, $2::bigint, $3::integer) order by t.id limit $4::bigint`,
    update: `update ${table} t set ${column} = v.new::${fieldTypeOf(field).columnType(field)} from ${given}
where t.id = v.id and t.${column}::text = v.old`,
  };
};

/** Snapshots name fields by id. */
const historyOf = (collection: Collection, field: Field): Rows => {
  const table = historyTableOf(collection);
  const isJson = fieldTypeOf(field).columnType(field) === 'jsonb';
  const key = `'${field.id.replaceAll("'", "''")}'`;
  const value = isJson ? `(h.snapshot::jsonb -> ${key})::text` : `(h.snapshot ->> ${key})`;
  return {
    select: `select h.record_id as id, h.at, h._revision as revision, ${value} as value from ${table} h
where h.snapshot ->> ${key} is not null and (h.record_id, h.at, h._revision) > ($1::text, $2::bigint, $3::integer)
order by h.record_id, h.at, h._revision limit $4::bigint`,
    update: `update ${table} h
set snapshot = (h.snapshot::jsonb || jsonb_build_object(${key}, ${isJson ? 'v.new::jsonb' : 'v.new'}))::json from ${given}
where h.record_id = v.id and h.at = v.at and h._revision = v.revision and ${value} = v.old`,
  };
};

const given = 'unnest($1::text[], $2::bigint[], $3::integer[], $4::text[], $5::text[]) v(id, at, revision, old, new)';

async function rewriteRows(query: Query, { select, update }: Rows, rewrite: Rewrite): Promise<number> {
  let refused = 0;
  for (let last: Omit<Row, 'value'> = { id: '', at: 0, revision: 0 }; ; ) {
    const rows = await query<Row>({ text: select, values: [last.id, last.at, last.revision, batchSize] });
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
          rewritten.map(({ revision }) => revision),
          rewritten.map(({ value }) => value),
          rewritten.map(({ next }) => next),
        ],
      });
    const end = rows.at(-1);
    if (!end || rows.length < batchSize) return refused;
    last = end;
  }
}
