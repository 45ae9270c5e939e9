import type { Database, Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';

/** Where a collection is read: a view may be any amount of work, and must not hold up the short reads of others. */
export const readerFor = (collection: Collection, { read, query }: Pick<Database, 'read' | 'query'>): Query =>
  collection.type === 'view' ? query : read;
