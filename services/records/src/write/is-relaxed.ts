import type { Collection } from '@recordbus/schema';
import { fileFieldsOf } from '../files/file-changes.ts';

/**
 * Whether a collection's creates and updates need not wait for the disk (collections §1.6). With file fields they must:
 * a replaced file's bytes are removed after the commit, and would be missing if a crash undid it.
 */
export const isRelaxed = (collection: Collection): boolean =>
  collection.durability === 'relaxed' && fileFieldsOf(collection).length === 0;
