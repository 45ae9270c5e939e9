import { fileKey, type Storage } from '@recordbus/storage';
import { keepNamed } from '../files/announced-files.ts';
import type { FindLostFiles } from './restore-record.ts';

/** Looks in the storage for the bytes. Those that are still to be removed are taken back, unless they go just now. */
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
