import { type Collection, quoteIdentifier, quoteLiteral, recordColumns, selectList } from '@recordbus/schema';

/**
 * A select of what an update did: `id`, `updated_at`, and as JSON text the `record`, its `previous` version and the
 * names of the fields that `changed`. Takes the relations with the rows after and before.
 */
export function selectChange(collection: Collection, after: string, before: string): string {
  const columns = recordColumns(collection);
  const names = collection.fields
    .filter(({ type }) => type !== 'password')
    .map(({ name }) => {
      const column = quoteIdentifier(name);
      return `case when n.${column} is distinct from o.${column} then ${quoteLiteral(name)} end`;
    });
  return `select n.id, n.updated_at, row_to_json(r.*)::text as record, row_to_json(p.*)::text as previous,
    array_to_json(array_remove(array[${names.join(', ')}]::text[], null))::text as changed
  from ${after} n join ${before} o on o.id = n.id
  cross join lateral (select ${selectList(columns, 'n')}) r
  cross join lateral (select ${selectList(columns, 'o')}) p`;
}

/** A select of rows as they are: `id`, `updated_at`, and as JSON text the `record`. */
export const selectRecord = (collection: Collection, source: string): string =>
  `select n.id, n.updated_at, row_to_json(r.*)::text as record
  from ${source} n cross join lateral (select ${selectList(recordColumns(collection), 'n')}) r`;
