import type { Collection, CollectionIndex } from './collection.ts';
import type { Field } from './field.ts';

/** Collection and field names (collections §1.2, fields §1.3). */
export const namePattern = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** Quotes an SQL identifier. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The table that holds a collection's records. */
export const tableOf = (collection: Pick<Collection, 'name'>): string => `records.${quoteIdentifier(collection.name)}`;

type Named = Pick<Collection, 'id'>;

/** Quotes an SQL text literal. Backslashes are plain characters (standard_conforming_strings is on). */
export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

// Constraint and index names consist of ids, so they survive renames and lead from a violation to its field. A schema's
// indexes and tables share one namespace: each name has its collection's id, and a colon, which no collection name has.
const constraintName = (kind: string, { id }: Named, field: Pick<Field, 'id'>) =>
  `${kind}:${id.replaceAll('-', '')}:${field.id}`;

/** Name of a table's primary key. */
export const primaryKeyName = ({ id }: Named) => `pk:${id.replaceAll('-', '')}`;

/** Name of the unique index behind a field's option `unique`. */
export const uniqueIndexName = (collection: Named, field: Pick<Field, 'id'>) => constraintName('uq', collection, field);

/** Name of the foreign key from a relation field, or from its link table, to its targets. */
export const foreignKeyName = (collection: Named, field: Pick<Field, 'id'>) => constraintName('fk', collection, field);

/** Name of the index on a relation field's column, or on its links' targets. */
export const relationIndexName = (collection: Named, field: Pick<Field, 'id'>) =>
  constraintName('ix', collection, field);

/** The table that links a collection's records to the targets, for a relation to several records. */
export const linkTableOf = (collection: Named, field: Pick<Field, 'id'>): string =>
  `links.${quoteIdentifier(linkTableName(collection, field))}`;

/** Its name within the schema `links`. */
export const linkTableName = ({ id }: Named, field: Pick<Field, 'id'>): string =>
  `${id.replaceAll('-', '')}:${field.id}`;

/** The function behind the triggers that maintain a collection's links. */
export const linkFunctionOf = ({ id }: Named): string => `links.${quoteIdentifier(`keep:${id.replaceAll('-', '')}`)}`;

/** Name of a link table's primary key. */
export const linkKeyName = (collection: Named, field: Pick<Field, 'id'>) => constraintName('pk', collection, field);

/** Name of the foreign key from a link table to the records that have the lists. */
export const ownerKeyName = (collection: Named, field: Pick<Field, 'id'>) => constraintName('owner', collection, field);

/** Name of an index that an admin created. */
export const indexName = (collection: Named, index: Pick<CollectionIndex, 'id'>) =>
  constraintName('ux', collection, index);

/** Name of the index for a list's default order. */
export const orderIndexName = ({ id }: Named) => `created:${id.replaceAll('-', '')}`;

/** Finds the collection's field whose constraint has the given name. */
export function findFieldOfConstraint(collection: Collection, name: string | undefined): Field | undefined {
  return collection.fields.find(
    (field) => name === uniqueIndexName(collection, field) || name === foreignKeyName(collection, field),
  );
}
