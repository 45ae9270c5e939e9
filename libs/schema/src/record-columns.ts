import type { Collection, TimeColumn } from './collection.ts';
import { isWriteOnly } from './fields/index.ts';
import { hasTimeColumn } from './indexes.ts';
import { quoteIdentifier } from './naming.ts';

/** One member of a record as clients see it, and the column of its value. */
export interface RecordColumn {
  readonly name: string;
  /** The column's name, quoted. */
  readonly column: string;
}

/**
 * The members of a record, in the order of its JSON (records §2.1). Everything that leaves the service goes through this
 * list, so other columns cannot leak.
 */
export function recordColumns(collection: Collection): readonly RecordColumn[] {
  return [
    { name: 'id', column: 'id' },
    ...collection.fields
      .filter((field) => !isWriteOnly(field))
      .map(({ name }) => ({ name, column: quoteIdentifier(name) })),
    ...(collection.type === 'auth' ? [{ name: 'anonymous', column: 'is_anonymous' }] : []),
    ...times.filter(({ column }) => hasTimeColumn(collection, column)),
  ];
}

const times: readonly (RecordColumn & { readonly column: TimeColumn })[] = [
  { name: 'created', column: 'created_at' },
  { name: 'updated', column: 'updated_at' },
];

/**
 * A row of the table (under the given alias) as the select list of a record; `row_to_json` of such a row is the record.
 * Not `json_build_object`, which takes 50 members at most.
 */
export const selectList = (columns: readonly RecordColumn[], alias: string): string =>
  columns.map(({ name, column }) => `${alias}.${column} as ${quoteIdentifier(name)}`).join(', ');
