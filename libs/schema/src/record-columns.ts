import type { Collection, TimeColumn } from './collection.ts';
import { isWriteOnly } from './fields/index.ts';
import { hasTimeColumn } from './indexes.ts';
import { quoteIdentifier } from './naming.ts';

/** One record member as clients see it, and its value's column. */
export interface RecordColumn {
  readonly name: string;
  /** The column's name, quoted. */
  readonly column: string;
}

/**
 * A record's members, in JSON order (records §2.1). Everything that leaves the service goes through this list, so other
 * columns cannot leak.
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
 * The select list that turns a table row into a record; `row_to_json` makes its JSON. `json_build_object` cannot: it takes
 * at most 50 members.
 */
export const selectList = (columns: readonly RecordColumn[], alias: string): string =>
  columns.map(({ name, column }) => `${alias}.${column} as ${quoteIdentifier(name)}`).join(', ');
