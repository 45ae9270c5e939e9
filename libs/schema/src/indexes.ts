import type { Collection, CollectionIndex, TimeColumn } from './collection.ts';
import { indexName } from './naming.ts';

/** Has the table or view of a collection this column? Only a view may lack it. */
export const hasTimeColumn = ({ lacking }: Pick<Collection, 'lacking'>, column: TimeColumn): boolean =>
  lacking?.includes(column) !== true;

/** The columns of an index by the names that they have now. */
export const columnsOfIndex = ({ fields }: Pick<Collection, 'fields'>, { columns }: CollectionIndex): string[] =>
  columns.map((column) => fields.find(({ id }) => id === column)?.name ?? column);

/** The index of an admin's making that has the given name in the database, if it is one of this collection's. */
export const findIndexOfConstraint = (collection: Collection, name: string | undefined): CollectionIndex | undefined =>
  collection.indexes?.find((index) => indexName(collection, index) === name);
