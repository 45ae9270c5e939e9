import { type Collection, collectionJson, presentCollection } from '@recordbus/schema';
import { z } from 'zod';
import { newCollection } from '../collections/collection-draft.ts';
import { newIndex } from '../indexes/index-draft.ts';
import { definitionsOfIndexes } from '../indexes/present-indexes.ts';

const version = 1;

/** A snapshot: every collection as the API shows it, with its indexes (collections §11.1). */
export const snapshotJson = z.object({
  version: z.literal(version),
  generated_at: z.int().describe('unix seconds'),
  collections: z.array(collectionJson.extend({ indexes: z.array(newIndex) })),
});

/** A collection of a snapshot to apply. */
export const snapshotCollection = newCollection.extend({
  indexes: z.array(newIndex, 'must be a list of indexes').default([]),
});

export type SnapshotCollection = z.output<typeof snapshotCollection>;

const document = z.strictObject({
  version: z.literal(version, `must be ${version}`),
  generated_at: z.unknown().optional(),
  collections: z.array(snapshotCollection, 'must be a list of collections'),
});

/** The body of an apply. `snapshot` is the document or the whole answer that held it (collections §11.2). */
export const snapshotToApply = z.strictObject({
  snapshot: z.preprocess(
    (given) => (typeof given === 'object' && given !== null && 'data' in given ? given.data : given),
    document,
  ),
  mode: z.enum(['additive', 'sync'], 'must be additive or sync').default('additive'),
});

export type SnapshotToApply = z.output<typeof snapshotToApply>;

/** Returns the snapshot of the given collections. */
export const takeSnapshot = (collections: readonly Collection[], nowSec: number): z.output<typeof snapshotJson> => ({
  version,
  generated_at: nowSec,
  collections: collections.map((collection) => ({
    ...presentCollection(collection),
    indexes: definitionsOfIndexes(collection).map((index) => ({ ...index, columns: [...index.columns] })),
  })),
});
