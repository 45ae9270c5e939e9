import { fileKey, type Storage } from '@recordbus/storage';
import { keepNamed } from '../files/announced-files.ts';
import type { FindLostFiles } from './restore-rules.ts';

/** Looks for the bytes in the storage. Cancels the removal of files that are still listed for it. */
export const createFindLostFiles =
  (storage: Pick<Storage, 'find'>): FindLostFiles =>
  async (query, collection, recordId, names) => {
    await keepNamed(query, { collectionId: collection.id, recordId, names });
    const lost = new Set<string>();
    for (const name of names) {
      const key = fileKey(collection.id, recordId, name);
      if (!key || !(await storage.find(key))) lost.add(name);
    }
    return lost;
  };
