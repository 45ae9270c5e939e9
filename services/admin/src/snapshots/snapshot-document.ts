import { toJsonSchema } from '@recordbus/http';
import { boundedList } from '@recordbus/http/bounded-list';
import { type Collection, collectionJson, presentCollection } from '@recordbus/schema';
import { z } from 'zod';
import { newCollection } from '../collections/collection-draft.ts';
import { newIndex } from '../indexes/index-draft.ts';
import { definitionsOfIndexes } from '../indexes/present-indexes.ts';

const version = 1;

/** How many collections a document may have, and how many indexes each. */
const maxCollections = 2000;
const maxIndexes = 100;

/** A snapshot: every collection as the API shows it, with its indexes (collections §11.1). */
export const snapshotJson = z
  .object({
    version: z.literal(version),
    generated_at: z.int().describe('unix seconds'),
    collections: z.array(collectionJson.extend({ indexes: z.array(newIndex) })),
  })
  .meta({ id: 'Snapshot' });

/** A snapshot's collection to apply. */
export const snapshotCollection = newCollection.extend({
  indexes: boundedList(newIndex, maxIndexes, 'must be a list of indexes').default([]).meta({ default: [] }),
});

export type SnapshotCollection = z.output<typeof snapshotCollection>;

/** A collection that `readSnapshot` checks; its metadata describe it in the API document. */
const readLater = z.unknown().meta({ ...toJsonSchema(snapshotCollection, 'input') });

const document = z.strictObject({
  version: z.literal(version, `must be ${version}`),
  generated_at: z.unknown().optional(),
  collections: boundedList(readLater, maxCollections, 'must be a list of collections'),
});

/**
 * An apply's body, before its collections are checked. `snapshot` is the document or the whole answer that held it
 * (collections §11.2).
 */
export const snapshotBody = z.strictObject({
  snapshot: z.preprocess(
    (given) => (typeof given === 'object' && given !== null && 'data' in given ? given.data : given),
    document,
  ),
  mode: z.enum(['additive', 'sync'], 'must be additive or sync').default('additive'),
});

export type SnapshotBody = z.output<typeof snapshotBody>;

/** Returns the given collections' snapshot. */
export const takeSnapshot = (collections: readonly Collection[], nowSec: number): z.output<typeof snapshotJson> => ({
  version,
  generated_at: nowSec,
  collections: collections.map((collection) => ({
    ...presentCollection(collection),
    indexes: definitionsOfIndexes(collection),
  })),
});
