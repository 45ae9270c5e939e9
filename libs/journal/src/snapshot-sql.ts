import { type Collection, fieldTypeOf, isWriteOnly, quoteIdentifier } from '@recordbus/schema';
import { historyTableOf } from './history-table.ts';

/** A column in a record's row that snapshots hold. */
interface SnapshotColumn {
  /** Its quoted key in snapshots: the field's id, which renames do not change. */
  readonly key: string;
  /** The column's quoted name. */
  readonly column: string;
  readonly sqlType: string;
  /** Whether the field holds several values; undefined if its type has no option `multiple`. */
  readonly isMultiple: boolean | undefined;
}

/** No field id contains `@`. */
const system: readonly SnapshotColumn[] = [
  { key: '"@created"', column: 'created_at', sqlType: 'bigint', isMultiple: undefined },
];

/** The fields in snapshots: all but passwords (history §4.2). */
export const snapshotFields = ({ fields }: Collection) => fields.filter((field) => !isWriteOnly(field));

/** Account columns in snapshots. Credentials are not part of a record. */
const account: readonly SnapshotColumn[] = [
  { key: '"@anonymous"', column: 'is_anonymous', sqlType: 'boolean', isMultiple: undefined },
];

const snapshotColumns = (collection: Collection): readonly SnapshotColumn[] => [
  ...snapshotFields(collection).map((field) => ({
    key: quoteIdentifier(field.id),
    column: quoteIdentifier(field.name),
    sqlType: fieldTypeOf(field).columnType(field),
    isMultiple: typeof field.options.multiple === 'boolean' ? field.options.multiple : undefined,
  })),
  ...system,
  ...(collection.type === 'auth' ? account : []),
];

/** A row's snapshot as SQL (type json): the values as they are stored, encrypted ones included. */
export const snapshotOf = (collection: Collection, row: string): string =>
  `(select row_to_json(s.*) from (select ${snapshotColumns(collection)
    .map(({ key, column }) => `${row}.${column} as ${key}`)
    .join(', ')}) s)`;

/**
 * Selects snapshots as rows with the collection table's current columns, except passwords. `at` becomes `updated_at`.
 * Fields that the snapshot lacks are null. `rows` selects from the history table.
 */
export function selectSnapshots(collection: Collection, rows = `select * from ${historyTableOf(collection)}`): string {
  const columns = snapshotColumns(collection);
  const types = columns.map(({ key, sqlType, isMultiple }) => `${key} ${isMultiple === undefined ? sqlType : 'jsonb'}`);
  return `select h.record_id as id, ${columns.map((column) => `${currentValue(column)} as ${column.column}`).join(', ')}, h.at as updated_at, h._revision
  from (${rows}) h cross join lateral json_to_record(h.snapshot) as s(${types.join(', ')})`;
}

/** A table row's select list with the columns of `selectSnapshots`, in the same order. */
export const selectLikeSnapshot = (collection: Collection, row: string): string =>
  `${row}.id, ${snapshotColumns(collection)
    .map(({ column }) => `${row}.${column}`)
    .join(', ')}, ${row}.updated_at, ${row}._revision`;

/** A value in its field's current form, as SQL. The field may have held one value or several at the time. */
function currentValue({ key, isMultiple, sqlType }: SnapshotColumn): string {
  const value = `s.${key}`;
  if (isMultiple === undefined) return value;
  return isMultiple
    ? `case when jsonb_typeof(${value}) = 'array' then ${value} when ${value} is not null then jsonb_build_array(${value}) end`
    : `(case jsonb_typeof(${value}) when 'array' then ${value} ->> 0 else ${value} #>> '{}' end)::${sqlType}`;
}
