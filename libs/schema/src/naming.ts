import type { Collection, CollectionIndex } from './collection.ts';
import type { Field } from './field.ts';

/** The names of collections and fields (collections §1.2, fields §1.3). */
export const namePattern = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** Quotes an SQL identifier. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The table that holds the records of a collection. */
export const tableOf = (collection: Pick<Collection, 'name'>): string => `records.${quoteIdentifier(collection.name)}`;

type Named = Pick<Collection, 'id'>;

/** Quotes an SQL text literal. Backslashes are plain characters (standard_conforming_strings is on). */
export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

// Names of constraints and indexes consist of ids, so they survive renames and lead from a violation to its field.
// Indexes and tables of a schema share one namespace: each name has the id of its collection, and a colon, which no name
// of a collection has.
const constraintName = (kind: string, { id }: Named, field: Pick<Field, 'id'>) =>
  `${kind}:${id.replaceAll('-', '')}:${field.id}`;

/** Name of the primary key of a collection's table. */
export const primaryKeyName = ({ id }: Named) => `pk:${id.replaceAll('-', '')}`;

/** Name of the unique index behind a field's option `unique`. */
export const uniqueIndexName = (collection: Named, field: Pick<Field, 'id'>) => constraintName('uq', collection, field);

/** Name of the foreign key of a relation field, or of its table of links to its targets. */
export const foreignKeyName = (collection: Named, field: Pick<Field, 'id'>) => constraintName('fk', collection, field);

/** Name of the index on a relation field's column, or on the targets of its links. */
export const relationIndexName = (collection: Named, field: Pick<Field, 'id'>) =>
  constraintName('ix', collection, field);

/** The table that links the records of a collection to the targets of a relation to several records. */
export const linkTableOf = (collection: Named, field: Pick<Field, 'id'>): string =>
  `links.${quoteIdentifier(linkTableName(collection, field))}`;

/** Its name within the schema `links`. */
export const linkTableName = ({ id }: Named, field: Pick<Field, 'id'>): string =>
  `${id.replaceAll('-', '')}:${field.id}`;

/** The function of the triggers that maintain the links of a collection. */
export const linkFunctionOf = ({ id }: Named): string => `links.${quoteIdentifier(`keep:${id.replaceAll('-', '')}`)}`;

/** Name of the primary key of a table of links. */
export const linkKeyName = (collection: Named, field: Pick<Field, 'id'>) => constraintName('pk', collection, field);

/** Name of the foreign key of a table of links to the records that have the lists. */
export const ownerKeyName = (collection: Named, field: Pick<Field, 'id'>) => constraintName('owner', collection, field);

/** Name of an index that an admin created. */
export const indexName = (collection: Named, index: Pick<CollectionIndex, 'id'>) =>
  constraintName('ux', collection, index);

/** Name of the index for the default order of a list. */
export const orderIndexName = ({ id }: Named) => `created:${id.replaceAll('-', '')}`;

/** Finds the field of the collection whose constraint has the given name. */
export function findFieldOfConstraint(collection: Collection, name: string | undefined): Field | undefined {
  return collection.fields.find(
    (field) => name === uniqueIndexName(collection, field) || name === foreignKeyName(collection, field),
  );
}
