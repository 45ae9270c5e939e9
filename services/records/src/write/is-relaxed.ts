import type { Collection } from '@recordbus/schema';
import { fileFieldsOf } from '../files/file-changes.ts';

/**
 * Whether creates and updates of a collection need not wait for the disk (collections §1.6). With file fields they do:
 * the bytes that an update drops are removed after its commit, and would be missing if a crash undid it.
 */
export const isRelaxed = (collection: Collection): boolean =>
  collection.durability === 'relaxed' && fileFieldsOf(collection).length === 0;
