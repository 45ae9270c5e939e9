import type { Collection, CollectionIndex, TimeColumn } from './collection.ts';
import { indexName } from './naming.ts';

/** Whether the collection's table or view has the column. Only a view may lack it. */
export const hasTimeColumn = ({ lacking }: Pick<Collection, 'lacking'>, column: TimeColumn): boolean =>
  lacking?.includes(column) !== true;

/** The current names of an index's columns. */
export const columnsOfIndex = ({ fields }: Pick<Collection, 'fields'>, { columns }: CollectionIndex): string[] =>
  columns.map((column) => fields.find(({ id }) => id === column)?.name ?? column);

/** Finds the collection's index, created by an admin, that has the given name in the database. */
export const findIndexOfConstraint = (collection: Collection, name: string | undefined): CollectionIndex | undefined =>
  collection.indexes?.find((index) => indexName(collection, index) === name);
