import type { Database } from '@recordbus/database';
import { type Collection, type SearchIndex, wordsIndexOf } from '@recordbus/schema';

/**
 * Sorts the words of new records into the index. Until then each search reads them one after the other, and when there are
 * too many, a writer sorts all.
 */
export async function sortNewWords(
  { query }: Pick<Database, 'query'>,
  collection: Collection,
  index: SearchIndex,
): Promise<void> {
  await query({ text: 'select gin_clean_pending_list($1::text::regclass)', values: [wordsIndexOf(collection, index)] });
}
