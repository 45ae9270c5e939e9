import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '@recordbus/database';
import {
  created,
  mayWarn,
  ok,
  type Reply,
  type Route,
  route,
  versionsOfIfMatch,
  withHeaders,
  withWarnings,
} from '@recordbus/http';
import { type Collection, loadCollections } from '@recordbus/schema';
import { z } from 'zod';
import { actorOf } from '../audit/actor.ts';
import { changeCollection } from '../collections/change-collection.ts';
import { type CollectionChange, collectionChange, newCollection } from '../collections/collection-draft.ts';
import { createCollection } from '../collections/create-collection.ts';
import { deleteCollection } from '../collections/delete-collection.ts';
import { warningsOfLostValues } from '../collections/lost-values.ts';
import { warningsOfDefinition } from '../collections/warn-of-definition.ts';
import { warningsOfMissingIndexes } from '../collections/warn-of-missing-indexes.ts';
import { presentTagged, taggedCollectionJson } from '../schema/collection-etag.ts';
import { getCollection } from '../schema/find-collection.ts';
import type { SchemaChanges } from '../schema/schema-changes.ts';

interface CollectionRoutesDeps {
  readonly database: Database;
  readonly changes: SchemaChanges;
  readonly nowSec: () => number;
}

/** About 10 ms of work. */
const perTurn = 100;

const collectionPath = '/api/v1/collections/:collection';
const params = z.strictObject({ collection: z.string().describe('collection id or name') });
const etagHeader = { ETag: "The definition's version, for If-Match" };
const ifMatchHeader = { 'If-Match': "the current definition's ETag, or * for any; 412 for another version" };
const otherVersion = 'If-Match names no version that the collection has.';

/** Adds a shown collection's ETag to its answer's headers. */
const withTag = (reply: Reply, { etag }: { readonly etag: string }): Reply => ({
  ...reply,
  headers: { ...reply.headers, ETag: etag },
});

/** Returns what finds one of many collections by its name. */
function finderOf(collections: readonly Collection[]): (name: string) => Collection | undefined {
  const byName = new Map(collections.map((collection) => [collection.name, collection]));
  return (name) => byName.get(name);
}

/** Routes for collections and their tables (collections §4 to §7). */
export function collectionRoutes({ database, changes, nowSec }: CollectionRoutesDeps): Route[] {
  const loadAll = async () => (await loadCollections(database.read)).collections;
  /** Answers a create or a change with the collection and warnings about its rules. */
  const answerWith = async (
    answer: (shown: ReturnType<typeof presentTagged>) => Reply,
    collection: Collection,
    change: CollectionChange,
    before: readonly string[] = [],
  ) => {
    const collections = await loadAll();
    const shown = presentTagged(collection, finderOf(collections));
    const warnings = [
      ...before,
      ...warningsOfDefinition(collection, collections),
      ...(await warningsOfMissingIndexes(database.read, collection, collections, change)),
    ];
    return withTag(withWarnings(answer(shown), warnings), shown);
  };
  return [
    route({
      method: 'GET',
      path: '/api/v1/collections',
      access: 'admin',
      scope: 'collections:read',
      summary: 'List all collections',
      answers: { 200: z.array(taggedCollectionJson) },
      async handler() {
        const collections = await loadAll();
        const find = finderOf(collections);
        const shown: ReturnType<typeof presentTagged>[] = [];
        for (const [index, collection] of collections.entries()) {
          // Thousands of collections' rules must not hold up other requests.
          if (index % perTurn === perTurn - 1) await nextTurn();
          shown.push(presentTagged(collection, find));
        }
        return ok(shown);
      },
    }),
    route({
      method: 'POST',
      idempotent: true,
      path: '/api/v1/collections',
      access: 'admin',
      scope: 'collections:apply',
      summary: 'Create a collection',
      body: newCollection,
      answers: { 201: withHeaders(mayWarn(taggedCollectionJson), etagHeader), 400: 'The name is taken.' },
      async handler(input) {
        const collection = await createCollection(changes, input.body, nowSec(), actorOf(input));
        return answerWith(created, collection, input.body);
      },
    }),
    route({
      method: 'GET',
      path: collectionPath,
      access: 'admin',
      scope: 'collections:read',
      summary: 'Get a collection by id or name',
      params,
      answers: { 200: withHeaders(taggedCollectionJson, etagHeader), 404: 'There is no such collection.' },
      handler: async ({ params: { collection } }) => {
        const collections = await loadAll();
        const shown = presentTagged(getCollection(collections, collection), finderOf(collections));
        return withTag(ok(shown), shown);
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
      requestHeaders: ifMatchHeader,
      answers: {
        200: withHeaders(mayWarn(taggedCollectionJson), etagHeader),
        400: 'The name is taken.',
        404: 'There is no such collection.',
        412: otherVersion,
      },
      handler: async (input) => {
        const { params, body } = input;
        const { collection, lostValues } = await changeCollection(
          changes,
          { idOrName: params.collection, versions: versionsOfIfMatch(input.header('if-match')) },
          body,
          nowSec(),
          actorOf(input),
        );
        return answerWith(ok, collection, body, warningsOfLostValues(lostValues));
      },
    }),
    route({
      method: 'DELETE',
      path: collectionPath,
      access: 'admin',
      scope: 'collections:apply',
      summary: 'Drop a collection with its table and all its records',
      params,
      requestHeaders: ifMatchHeader,
      answers: {
        200: z.null(),
        404: 'There is no such collection.',
        409: "Other collections' relations or views depend on it; details list them.",
        412: otherVersion,
        422: "Other collections' rules name it; details list them.",
      },
      handler: async (input) => {
        const versions = versionsOfIfMatch(input.header('if-match'));
        await deleteCollection(changes, { idOrName: input.params.collection, versions }, actorOf(input));
        return ok(null);
      },
    }),
  ];
}
