import { type Collection, fieldTypeOf, quoteIdentifier } from '@recordbus/schema';
import { historyTableOf } from './history-table.ts';

/** A column of a record's row that snapshots hold. */
interface SnapshotColumn {
  /** Under which the snapshot has it, quoted: the field's id, which stays when the field is renamed. */
  readonly key: string;
  /** The column's name, quoted. */
  readonly column: string;
  readonly sqlType: string;
  /** May the field hold one value or several, as its definition says at the time? */
  readonly isMultiple: boolean | undefined;
}

/** `@` stands in no field's id. */
const system: readonly SnapshotColumn[] = [
  { key: '"@created"', column: 'created_at', sqlType: 'bigint', isMultiple: undefined },
];

/** The fields that snapshots hold: never a password, not even its hash (contract §2). */
export const snapshotFields = ({ fields }: Collection) => fields.filter(({ type }) => type !== 'password');

/** Of auth records; credentials are no part of a record. */
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

/** The expression (type json) of a row's snapshot: the values as they are stored, so sealed ones stay sealed. */
export const snapshotOf = (collection: Collection, row: string): string =>
  `(select row_to_json(s.*) from (select ${snapshotColumns(collection)
    .map(({ key, column }) => `${row}.${column} as ${key}`)
    .join(', ')}) s)`;

/**
 * A select of snapshots as rows that look like those of the collection's table as it is now, but for passwords; `at` is
 * their `updated_at`. Fields that the snapshot does not know are null. `rows` selects from the table of the history.
 */
export function selectSnapshots(collection: Collection, rows = `select * from ${historyTableOf(collection)}`): string {
  const columns = snapshotColumns(collection);
  const types = columns.map(({ key, sqlType, isMultiple }) => `${key} ${isMultiple === undefined ? sqlType : 'jsonb'}`);
  return `select h.record_id as id, ${columns.map((column) => `${presentValue(column)} as ${column.column}`).join(', ')}, h.at as updated_at
  from (${rows}) h cross join lateral json_to_record(h.snapshot) as s(${types.join(', ')})`;
}

/** The row of the collection's table with the columns of `selectSnapshots`, in its order. */
export const selectLikeSnapshot = (collection: Collection, row: string): string =>
  `${row}.id, ${snapshotColumns(collection)
    .map(({ column }) => `${row}.${column}`)
    .join(', ')}, ${row}.updated_at`;

/** A value from when the field held one and one from when it held several, as it is to be now. */
function presentValue({ key, isMultiple, sqlType }: SnapshotColumn): string {
  const value = `s.${key}`;
  if (isMultiple === undefined) return value;
  return isMultiple
    ? `case when jsonb_typeof(${value}) = 'array' then ${value} when ${value} is not null then jsonb_build_array(${value}) end`
    : `(case jsonb_typeof(${value}) when 'array' then ${value} ->> 0 else ${value} #>> '{}' end)::${sqlType}`;
}
