import { fileKey, type Storage } from '@recordbus/storage';
import type { FindLostFiles } from './restore-record.ts';

/** Looks in the storage for the bytes. */
export const createFindLostFiles =
  (storage: Pick<Storage, 'find'>): FindLostFiles =>
  async (collection, recordId, names) => {
    const lost = new Set<string>();
    for (const name of names) {
      const key = fileKey(collection.id, recordId, name);
      if (!key || !(await storage.find(key))) lost.add(name);
    }
    return lost;
  };
