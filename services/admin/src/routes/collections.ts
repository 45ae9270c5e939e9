import type { Database } from '@recordbus/database';
import { collectionJson, loadCollections, presentCollection } from '@recordbus/schema';
import { created, ok, type Route, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { authorOf } from '../audit/author.ts';
import { changeCollection } from '../collections/change-collection.ts';
import { collectionChange, newCollection } from '../collections/collection-draft.ts';
import { createCollection } from '../collections/create-collection.ts';
import { deleteCollection } from '../collections/delete-collection.ts';
import { getCollection } from '../collections/find-collection.ts';
import type { SchemaChanges } from '../collections/schema-changes.ts';

interface CollectionRoutesDeps {
  readonly database: Database;
  readonly changes: SchemaChanges;
  readonly nowSec: () => number;
}

const collectionPath = '/api/v1/collections/:collection';
const params = z.strictObject({ collection: z.string().describe('id or name of the collection') });

/** Collections and their tables (interface §4.2). */
export const collectionRoutes = ({ database, changes, nowSec }: CollectionRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/collections',
    access: 'admin',
    summary: 'List all collections',
    answers: { 200: z.array(collectionJson) },
    handler: async () => ok((await loadCollections(database.read)).collections.map(presentCollection)),
  }),
  route({
    method: 'POST',
    idempotent: true,
    path: '/api/v1/collections',
    access: 'admin',
    summary: 'Create a collection',
    body: newCollection,
    answers: { 201: collectionJson, 400: 'The name is taken.' },
    handler: async (input) =>
      created(presentCollection(await createCollection(changes, input.body, nowSec(), authorOf(input)))),
  }),
  route({
    method: 'GET',
    path: collectionPath,
    access: 'admin',
    summary: 'Get a collection by id or name',
    params,
    answers: { 200: collectionJson, 404: 'There is no such collection.' },
    handler: async ({ params: { collection } }) => {
      const { collections } = await loadCollections(database.read);
      return ok(presentCollection(getCollection(collections, collection)));
    },
  }),
  route({
    method: 'PATCH',
    path: collectionPath,
    access: 'admin',
    summary: 'Change a collection; fields keep their data by their ids, those left out are dropped',
    params,
    body: collectionChange,
    answers: { 200: collectionJson, 400: 'The name is taken.', 404: 'There is no such collection.' },
    handler: async (input) => {
      const { params, body } = input;
      return ok(presentCollection(await changeCollection(changes, params.collection, body, nowSec(), authorOf(input))));
    },
  }),
  route({
    method: 'DELETE',
    path: collectionPath,
    access: 'admin',
    summary: 'Drop a collection with its table and all its records, for good',
    params,
    answers: {
      200: z.null(),
      404: 'There is no such collection.',
      409: 'Relations or views of other collections need it; details list them.',
    },
    handler: async (input) => {
      await deleteCollection(changes, input.params.collection, authorOf(input));
      return ok(null);
    },
  }),
];
