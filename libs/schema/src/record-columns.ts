import type { Collection, TimeColumn } from './collection.ts';
import { hasTimeColumn } from './indexes.ts';
import { quoteIdentifier } from './naming.ts';

/** One member of a record as clients see it, and where its value stands in the table. */
export interface RecordColumn {
  readonly name: string;
  /** The column's name, quoted. */
  readonly column: string;
}

/**
 * What a record consists of (contract §2), in the order of its JSON. Everything that leaves the service goes through
 * this list, so what is not in it can't leak.
 */
export function recordColumns(collection: Collection): readonly RecordColumn[] {
  return [
    { name: 'id', column: 'id' },
    ...collection.fields
      .filter(({ type }) => type !== 'password')
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
