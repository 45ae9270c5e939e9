import { autodates, type ColumnSql, composeWrite, type Origin } from '@recordbus/journal';
import {
  type Collection,
  type Field,
  fieldTypeOf,
  perCollection,
  quoteIdentifier,
  quoteLiteral,
  retainedColumn,
  tableOf,
} from '@recordbus/schema';

/** The fields that a redaction empties: all but dates that the server sets, and the retention's own (privacy §3.3). */
function emptiedFields(collection: Collection): readonly Field[] {
  const { retain, fields } = collection;
  const counted = retain && retainedColumn(collection, retain);
  return fields.filter((field) => field.name !== counted && !fieldTypeOf(field).isServerSet);
}

/** SQL: the content of a column without a value. */
function emptySql(field: Field): string {
  const type = fieldTypeOf(field);
  const empty = type.emptyValue?.(field) ?? null;
  return `${empty === null ? 'null' : quoteLiteral(String(empty))}::${type.columnType(field)}`;
}

/** SQL: whether a row has a value in a field that a redaction empties. */
export function isFilled(collection: Collection, row: string): string {
  const filled = emptiedFields(collection).map(
    (field) => `${row}.${quoteIdentifier(field.name)} is distinct from ${emptySql(field)}`,
  );
  return filled.length > 0 ? `(${filled.join(' or ')})` : 'false';
}

/** The statement that empties records, required fields included, with an event and a version for each. */
export const redaction = perCollection((collection) =>
  composeWrite<Origin & { readonly ids: readonly string[] }>((parameters) => ({
    before: [
      {
        name: 'old',
        sql: `select t.* from ${tableOf(collection)} t where t.id = any(${parameters.named('ids', 'text[]')}) order by t.id for update`,
        isMaterialized: true,
      },
    ],
    writes: [
      {
        collection,
        verb: 'update',
        rows: {
          set: [
            ...emptiedFields(collection).map(
              (field): ColumnSql => ({ name: quoteIdentifier(field.name), value: emptySql(field) }),
            ),
            ...autodates(collection),
          ],
        },
      },
    ],
    answer: 'select',
  })),
);
