import type { Database } from '@recordbus/database';
import { type Collection, collectionJson, loadCollections, presentCollection } from '@recordbus/schema';
import { created, mayWarn, ok, type Route, route, withWarnings } from '@recordbus/shared/http';
import { z } from 'zod';
import { actorOf } from '../audit/actor.ts';
import { changeCollection } from '../collections/change-collection.ts';
import { type CollectionChange, collectionChange, newCollection } from '../collections/collection-draft.ts';
import { createCollection } from '../collections/create-collection.ts';
import { deleteCollection } from '../collections/delete-collection.ts';
import { warningsOfLostValues } from '../collections/lost-values.ts';
import { warningsOfMissingIndexes } from '../collections/warn-of-missing-indexes.ts';
import { warningsOfOpenRules } from '../collections/warn-of-open-rules.ts';
import { getCollection } from '../schema/find-collection.ts';
import type { SchemaChanges } from '../schema/schema-changes.ts';

interface CollectionRoutesDeps {
  readonly database: Database;
  readonly changes: SchemaChanges;
  readonly nowSec: () => number;
}

const collectionPath = '/api/v1/collections/:collection';
const params = z.strictObject({ collection: z.string().describe('id or name of the collection') });

/** Routes of collections and their tables (collections §4 to §7). */
export function collectionRoutes({ database, changes, nowSec }: CollectionRoutesDeps): Route[] {
  const warningsAbout = async (collection: Collection, change: CollectionChange) => {
    const { collections } = await loadCollections(database.read);
    return [
      ...warningsOfOpenRules(collection, collections),
      ...(await warningsOfMissingIndexes(database.read, collection, collections, change)),
    ];
  };
  return [
    route({
      method: 'GET',
      path: '/api/v1/collections',
      access: 'admin',
      scope: 'collections:read',
      summary: 'List all collections',
      answers: { 200: z.array(collectionJson) },
      handler: async () => ok((await loadCollections(database.read)).collections.map(presentCollection)),
    }),
    route({
      method: 'POST',
      idempotent: true,
      path: '/api/v1/collections',
      access: 'admin',
      scope: 'collections:apply',
      summary: 'Create a collection',
      body: newCollection,
      answers: { 201: mayWarn(collectionJson), 400: 'The name is taken.' },
      async handler(input) {
        const collection = await createCollection(changes, input.body, nowSec(), actorOf(input));
        return withWarnings(created(presentCollection(collection)), await warningsAbout(collection, input.body));
      },
    }),
    route({
      method: 'GET',
      path: collectionPath,
      access: 'admin',
      scope: 'collections:read',
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
      scope: 'collections:apply',
      summary: 'Change a collection; fields keep their data by id, and fields that the body leaves out are dropped',
      params,
      body: collectionChange,
      answers: { 200: mayWarn(collectionJson), 400: 'The name is taken.', 404: 'There is no such collection.' },
      handler: async (input) => {
        const { params, body } = input;
        const { collection, lostValues } = await changeCollection(
          changes,
          params.collection,
          body,
          nowSec(),
          actorOf(input),
        );
        const warnings = [...warningsOfLostValues(lostValues), ...(await warningsAbout(collection, body))];
        return withWarnings(ok(presentCollection(collection)), warnings);
      },
    }),
    route({
      method: 'DELETE',
      path: collectionPath,
      access: 'admin',
      scope: 'collections:apply',
      summary: 'Drop a collection with its table and all its records',
      params,
      answers: {
        200: z.null(),
        404: 'There is no such collection.',
        409: 'Relations or views of other collections depend on it; details list them.',
        422: 'Rules of other collections name it; details list them.',
      },
      handler: async (input) => {
        await deleteCollection(changes, input.params.collection, actorOf(input));
        return ok(null);
      },
    }),
  ];
}
