import type { Query } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import {
  type Collection,
  type ColumnValues,
  comparedBy,
  type Field,
  fieldTypeOf,
  hasComparableValue,
  quoteIdentifier,
  tableOf,
} from '@recordbus/schema';
import { columnsOfRows } from '../../batch/given-rows.ts';
import { readNewId } from '../../record/record-id.ts';
import { readKey } from '../../write/record-key.ts';
import { type ImportContext, type ImportRow, type Outcomes, refusalOf } from './import-row.ts';

/** Finds which rows' records exist, by id. Rows without a key are refused. */
export async function findExisting(
  query: Query,
  context: ImportContext,
  rows: readonly ImportRow[],
  outcomes: Outcomes,
): Promise<ReadonlyMap<ImportRow, string>> {
  const { collection, options } = context;
  const lock = options.mode === 'upsert' ? ' for update of t' : '';
  if (options.on === undefined) return findByIds(query, collection, namedRows(rows, outcomes), lock);
  const fields = options.on.flatMap((name) => collection.fields.find((field) => field.name === name) ?? []);
  const keyed: { readonly row: ImportRow; readonly values: ColumnValues }[] = [];
  for (const row of rows) {
    try {
      keyed.push({ row, values: (await readKey(collection, fields, row.body)).values });
    } catch (error) {
      outcomes.set(row.row, refusalOf(error));
    }
  }
  return findByKeys(query, { collection, fields }, keyed, lock);
}

function namedRows(rows: readonly ImportRow[], outcomes: Outcomes): ReadonlyMap<ImportRow, string> {
  const ids = new Map<ImportRow, string>();
  for (const row of rows) {
    const { id } = row.body;
    try {
      if (typeof id !== 'string' || id === '') throw validationFailed({ id: 'is required' });
      ids.set(row, readNewId(id));
    } catch (error) {
      outcomes.set(row.row, refusalOf(error));
    }
  }
  return ids;
}

async function findByIds(query: Query, collection: Collection, ids: ReadonlyMap<ImportRow, string>, lock: string) {
  const found = await query<{ id: string }>({
    text: `select t.id from ${tableOf(collection)} t where t.id = any($1::text[]) order by t.id${lock}`,
    values: [[...new Set(ids.values())]],
  });
  const there = new Set(found.map(({ id }) => id));
  return new Map([...ids].filter(([, id]) => there.has(id)));
}

async function findByKeys(
  query: Query,
  { collection, fields }: { readonly collection: Collection; readonly fields: readonly Field[] },
  keyed: readonly { readonly row: ImportRow; readonly values: ColumnValues }[],
  lock: string,
): Promise<ReadonlyMap<ImportRow, string>> {
  const columns = columnsOfRows(keyed.map(({ values }) => values));
  // No field name begins with an underscore.
  const names = fields.map((_, n) => `_k${n}`);
  const conditions = fields.map((field, n) => {
    const column = `t.${quoteIdentifier(field.name)}`;
    const value = `k._k${n}::${fieldTypeOf(field).columnType(field)}`;
    return `${comparedBy(field, column)} = ${comparedBy(field, value)} and ${hasComparableValue(field)}`;
  });
  const found = await query<{ place: number; id: string }>({
    text: `select k._place as place, t.id
      from unnest(${fields.map((_, n) => `$${n + 1}::text[]`).join(', ')}) with ordinality k(${names.join(', ')}, _place)
      join ${tableOf(collection)} t on ${conditions.join(' and ')} order by t.id${lock}`,
    values: fields.map(({ name }) => columns.get(name) ?? []),
  });
  return new Map(
    found.flatMap(({ place, id }): [ImportRow, string][] => {
      const one = keyed[place - 1];
      return one ? [[one.row, id]] : [];
    }),
  );
}
