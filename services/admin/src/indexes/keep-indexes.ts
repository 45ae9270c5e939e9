import type { Collection, CollectionIndex } from '@recordbus/schema';

/** The collection without the indexes over fields that it no longer has; PostgreSQL drops them with the columns. */
export function keepIndexes(collection: Collection): Collection {
  const { indexes, ...rest } = collection;
  const kept = indexes?.filter((index) => index.columns.every((column) => isThere(rest, column)));
  return { ...rest, ...(kept && kept.length > 0 && { indexes: kept }) };
}

const isThere = ({ fields }: Pick<Collection, 'fields'>, column: CollectionIndex['columns'][number]): boolean =>
  systemColumns.has(column) || fields.some(({ id }) => id === column);

/** The columns that every table has beside its fields. */
export const systemColumns: ReadonlySet<string> = new Set(['id', 'created_at', 'updated_at']);
