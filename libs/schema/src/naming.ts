import type { Collection, CollectionIndex } from './collection.ts';
import type { Field } from './field.ts';

/** Collection and field names (contract §1, §8). */
export const namePattern = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** An SQL identifier, quoted. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The table that holds the records of a collection. */
export const tableOf = (collection: Pick<Collection, 'name'>): string => `records.${quoteIdentifier(collection.name)}`;

type Named = Pick<Collection, 'id'>;

/** An SQL text literal. Backslashes are plain characters, as standard_conforming_strings has it. */
export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

// Names of constraints and indexes are made of ids, so they outlive renames and lead from a violation to its field.
// Index names share one name space per schema with each other, hence the collection's id in each, and with the tables,
// hence the colon, which no collection's name has.
const constraintName = (kind: string, { id }: Named, field: Pick<Field, 'id'>) =>
  `${kind}:${id.replaceAll('-', '')}:${field.id}`;

/** Name of the primary key of a collection's table. */
export const primaryKeyName = ({ id }: Named) => `pk:${id.replaceAll('-', '')}`;

/** Name of the unique index behind a field's option `unique`. */
export const uniqueIndexName = (collection: Named, field: Pick<Field, 'id'>) => constraintName('uq', collection, field);

/** Name of the foreign key of a relation field. */
export const foreignKeyName = (collection: Named, field: Pick<Field, 'id'>) => constraintName('fk', collection, field);

/** Name of the index on a relation field's column. */
export const relationIndexName = (collection: Named, field: Pick<Field, 'id'>) =>
  constraintName('ix', collection, field);

/** Name of an index that an admin asked for. */
export const indexName = (collection: Named, index: Pick<CollectionIndex, 'id'>) =>
  constraintName('ux', collection, index);

/** Name of the index behind the default order of a list. */
export const orderIndexName = ({ id }: Named) => `created:${id.replaceAll('-', '')}`;

/** The field whose constraint has the given name, if it is one of this collection's. */
export function findFieldOfConstraint(collection: Collection, name: string | undefined): Field | undefined {
  return collection.fields.find(
    (field) => name === uniqueIndexName(collection, field) || name === foreignKeyName(collection, field),
  );
}
