import {
  type Collection,
  encryptedFieldsOf,
  isEncrypted,
  isWriteOnly,
  quoteIdentifier,
  quoteLiteral,
  recordColumns,
  selectList,
} from '@recordbus/schema';
import { nextVersionOf, versionOf } from './version-sql.ts';

/**
 * A select from updated rows: `id`, `version`, and as JSON text the `record`, the `previous` record and the `changed`
 * field names, as events have them, `answer` (see `answerOf`) and `sealed`. `after` and `before` are the relations with
 * the rows after and before the update.
 */
export function selectChange(collection: Collection, after: string, before: string): string {
  const columns = eventColumns(collection);
  const names = collection.fields
    .filter((field) => !isWriteOnly(field) && !isEncrypted(field))
    .map(({ name }) => {
      const column = quoteIdentifier(name);
      return `case when n.${column} is distinct from o.${column} then ${quoteLiteral(name)} end`;
    });
  return `select n.id, ${versionOf('n')} as version, row_to_json(r.*)::text as record, row_to_json(p.*)::text as previous,
    array_to_json(array_remove(array[${names.join(', ')}]::text[], null))::text as changed${answerColumn(collection)}${sealedColumn(collection)}
  from ${after} n join ${before} o on o.id = n.id
  cross join lateral (select ${selectList(columns, 'n')}) r
  cross join lateral (select ${selectList(columns, 'o')}) p`;
}

/**
 * A select from created or deleted rows: `id`, `version`, as JSON text the `record`, and `answer` (see `answerOf`). A
 * deleted row has the delete's version.
 */
export const selectRecord = (collection: Collection, source: string, { isDeleted = false } = {}): string =>
  `select n.id, ${isDeleted ? nextVersionOf('n') : versionOf('n')} as version, row_to_json(r.*)::text as record${answerColumn(collection)}${isDeleted ? '' : sealedColumn(collection)}
  from ${source} n cross join lateral (select ${selectList(eventColumns(collection), 'n')}) r`;

/**
 * The record in a write's answer, as SQL on a row from one of these selects. It has the encrypted fields, as they are
 * stored. Events leave them out (events §2.4).
 */
export const answerOf = (collection: Collection, row: string): string =>
  `${row}.${encryptedFieldsOf(collection).length > 0 ? 'answer' : 'record'}`;

const answerColumn = (collection: Collection): string =>
  encryptedFieldsOf(collection).length > 0
    ? `, (select row_to_json(a.*)::text from (select ${selectList(recordColumns(collection), 'n')}) a) as answer`
    : '';

/** The column `sealed`: the encrypted fields as they are stored, as JSON text. No column without such fields. */
function sealedColumn(collection: Collection): string {
  const encrypted = new Set(encryptedFieldsOf(collection).map(({ name }) => name));
  if (encrypted.size === 0) return '';
  const columns = recordColumns(collection).filter(({ name }) => encrypted.has(name));
  return `, (select row_to_json(a.*)::text from (select ${selectList(columns, 'n')}) a) as sealed`;
}

const eventColumns = (collection: Collection) => {
  const encrypted = new Set(encryptedFieldsOf(collection).map(({ name }) => name));
  return recordColumns(collection).filter(({ name }) => !encrypted.has(name));
};
