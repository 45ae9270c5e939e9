import type { Collection, CollectionIndex } from '@recordbus/schema';

/** Returns the collection without indexes over dropped fields. PostgreSQL drops those with the columns. */
export function keepIndexes(collection: Collection): Collection {
  const { indexes, ...rest } = collection;
  const kept = indexes?.filter((index) => index.columns.every((column) => hasColumn(rest, column)));
  return { ...rest, ...(kept && kept.length > 0 && { indexes: kept }) };
}

const hasColumn = ({ fields }: Pick<Collection, 'fields'>, column: CollectionIndex['columns'][number]): boolean =>
  systemColumns.has(column) || fields.some(({ id }) => id === column);

/** The columns that every table has in addition to its fields. */
export const systemColumns: ReadonlySet<string> = new Set(['id', 'created_at', 'updated_at']);
