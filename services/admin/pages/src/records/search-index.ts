import { client } from '../api/client.ts';

/** Whether a collection has a search index that holds all records. */
export async function hasSearchIndex(collection: string, signal: AbortSignal): Promise<boolean> {
  const indexes = await client.admin.collections.indexes.list(collection, { signal });
  return indexes.some(({ type, state }) => type === 'search' && state === 'ready');
}
