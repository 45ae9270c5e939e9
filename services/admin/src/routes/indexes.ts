import type { Database } from '@recordbus/database';
import { loadCollections } from '@recordbus/schema';
import { created, ok, type Route, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { authorOf } from '../audit/author.ts';
import { getCollection } from '../collections/find-collection.ts';
import type { SchemaChanges } from '../collections/schema-changes.ts';
import { createIndex, deleteIndex } from '../indexes/change-indexes.ts';
import { indexJson, newIndex } from '../indexes/index-draft.ts';
import { presentIndexes } from '../indexes/present-indexes.ts';

interface IndexRoutesDeps {
  readonly database: Database;
  readonly changes: SchemaChanges;
}

const path = '/api/v1/admin/collections/:collection/indexes';
const params = z.strictObject({ collection: z.string().describe('name or id of the collection') });
const noSuchCollection = 'There is no such collection.';

/** Indexes of collections (interface §4.2, contract §7, §8). */
export const indexRoutes = ({ database, changes }: IndexRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path,
    access: 'admin',
    summary: 'List the indexes of a collection, those that the system needs first',
    params,
    answers: { 200: z.array(indexJson), 404: noSuchCollection },
    handler: async ({ params: { collection } }) => {
      const { collections } = await loadCollections(database.read);
      return ok(presentIndexes(getCollection(collections, collection)));
    },
  }),
  route({
    method: 'POST',
    idempotent: true,
    path,
    access: 'admin',
    summary: 'Make an index over columns of a collection',
    params,
    body: newIndex,
    answers: {
      201: indexJson,
      404: noSuchCollection,
      409: 'The name is taken, or a unique index would be over values that are there twice.',
    },
    handler: async (input) => created(await createIndex(changes, input.params.collection, input.body, authorOf(input))),
  }),
  route({
    method: 'DELETE',
    path: `${path}/:index`,
    access: 'admin',
    summary: 'Drop an index',
    params: params.extend({ index: z.string() }),
    answers: { 200: z.null(), 404: 'There is no such collection or index.', 409: 'The system needs it.' },
    handler: async (input) => {
      await deleteIndex(changes, input.params.collection, input.params.index, authorOf(input));
      return ok(null);
    },
  }),
];
