import type { Database } from '@recordbus/database';
import { created, ok, type Route, route } from '@recordbus/http';
import { loadCollections } from '@recordbus/schema';
import { z } from 'zod';
import { actorOf } from '../audit/actor.ts';
import { changeIndex, createIndex, deleteIndex } from '../indexes/change-indexes.ts';
import { indexChange, indexJson, newIndex } from '../indexes/index-draft.ts';
import { presentIndexes } from '../indexes/present-indexes.ts';
import { getCollection } from '../schema/find-collection.ts';
import type { SchemaChanges } from '../schema/schema-changes.ts';

interface IndexRoutesDeps {
  readonly database: Database;
  readonly changes: SchemaChanges;
}

const path = '/api/v1/admin/collections/:collection/indexes';
const params = z.strictObject({ collection: z.string().describe('collection name or id') });
const noSuchCollection = 'There is no such collection.';
const noSuchIndex = 'There is no such collection or index.';

/** Index routes (collections §10). */
export const indexRoutes = ({ database, changes }: IndexRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path,
    access: 'admin',
    scope: 'collections:read',
    summary: "List a collection's indexes, system indexes first",
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
    scope: 'collections:apply',
    summary: "Create an index over a collection's columns",
    params,
    body: newIndex,
    answers: {
      201: indexJson,
      404: noSuchCollection,
      409: 'The name is taken, or a unique index would cover duplicate values.',
    },
    handler: async (input) => created(await createIndex(changes, input.params.collection, input.body, actorOf(input))),
  }),
  route({
    method: 'PATCH',
    path: `${path}/:index`,
    access: 'admin',
    scope: 'collections:apply',
    summary: 'Change a search index, which is built again',
    params: params.extend({ index: z.string() }),
    body: indexChange,
    answers: { 200: indexJson, 404: noSuchIndex },
    handler: async (input) => {
      const { collection, index } = input.params;
      return ok(await changeIndex(changes, collection, index, input.body, actorOf(input)));
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}/:index`,
    access: 'admin',
    scope: 'collections:apply',
    summary: 'Drop an index',
    params: params.extend({ index: z.string() }),
    answers: { 200: z.null(), 404: noSuchIndex, 409: 'It is a system index.' },
    handler: async (input) => {
      await deleteIndex(changes, input.params.collection, input.params.index, actorOf(input));
      return ok(null);
    },
  }),
];
