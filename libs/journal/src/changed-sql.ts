import {
  type Collection,
  encryptedFieldsOf,
  isEncrypted,
  quoteIdentifier,
  quoteLiteral,
  recordColumns,
  selectList,
} from '@recordbus/schema';

/**
 * A select of what an update did: `id`, `updated_at`, and as JSON text the `record`, its `previous` version and the
 * names of the fields that `changed`, as events tell them; beside it `answer` (see `answerOf`). Takes the relations
 * with the rows after and before.
 */
export function selectChange(collection: Collection, after: string, before: string): string {
  const columns = toldColumns(collection);
  const names = collection.fields
    .filter((field) => field.type !== 'password' && !isEncrypted(field))
    .map(({ name }) => {
      const column = quoteIdentifier(name);
      return `case when n.${column} is distinct from o.${column} then ${quoteLiteral(name)} end`;
    });
  return `select n.id, n.updated_at, row_to_json(r.*)::text as record, row_to_json(p.*)::text as previous,
    array_to_json(array_remove(array[${names.join(', ')}]::text[], null))::text as changed${answerColumn(collection)}
  from ${after} n join ${before} o on o.id = n.id
  cross join lateral (select ${selectList(columns, 'n')}) r
  cross join lateral (select ${selectList(columns, 'o')}) p`;
}

/** A select of rows as they are: `id`, `updated_at`, and as JSON text the `record`; beside it `answer` (see `answerOf`). */
export const selectRecord = (collection: Collection, source: string): string =>
  `select n.id, n.updated_at, row_to_json(r.*)::text as record${answerColumn(collection)}
  from ${source} n cross join lateral (select ${selectList(toldColumns(collection), 'n')}) r`;

/**
 * The record as its writer is answered, in a row of one of these selects. It is the one that is told to others, but for
 * encrypted fields, which events leave out (contract §2) and which here are as they are stored.
 */
export const answerOf = (collection: Collection, row: string): string =>
  `${row}.${encryptedFieldsOf(collection).length > 0 ? 'answer' : 'record'}`;

const answerColumn = (collection: Collection): string =>
  encryptedFieldsOf(collection).length > 0
    ? `, (select row_to_json(a.*)::text from (select ${selectList(recordColumns(collection), 'n')}) a) as answer`
    : '';

const toldColumns = (collection: Collection) => {
  const untold = new Set(encryptedFieldsOf(collection).map(({ name }) => name));
  return recordColumns(collection).filter(({ name }) => !untold.has(name));
};
