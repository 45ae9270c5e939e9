import type { Database } from '@recordbus/database';
import { mayWarn, ok, otherContent, type Route, route, withWarnings } from '@recordbus/http';
import { inSlices } from '@recordbus/limits/time-slice';
import { loadCollections } from '@recordbus/schema';
import { typesDocument } from '@recordbus/typescript-types';
import { z } from 'zod';
import { actorOf } from '../audit/actor.ts';
import { warningsOfDefinition } from '../collections/warn-of-definition.ts';
import type { SchemaChanges } from '../schema/schema-changes.ts';
import { applySnapshot } from '../snapshots/apply-snapshot.ts';
import { readSnapshot } from '../snapshots/read-snapshot.ts';
import { snapshotBody, snapshotJson } from '../snapshots/snapshot-document.ts';
import { exportSnapshot } from '../snapshots/snapshots.ts';

interface SnapshotRoutesDeps {
  readonly database: Database;
  readonly changes: SchemaChanges;
  readonly nowSec: () => number;
}

const names = z.array(z.string());

/**
 * Larger than for other bodies, because a snapshot holds every definition: 500 collections with 50 fields have 5 MiB.
 */
const bodyLimitBytes = 8 * 1024 * 1024;

/** Routes that export and apply the schema as one document (collections §11). */
export const snapshotRoutes = ({ database, changes, nowSec }: SnapshotRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/admin/migrations/snapshot',
    access: 'admin',
    scope: 'collections:read',
    summary: 'Get all collection definitions, indexes included',
    answers: { 200: snapshotJson },
    handler: async () => ok(await exportSnapshot(database, nowSec())),
  }),
  route({
    method: 'GET',
    path: '/api/v1/admin/schema/types',
    access: 'admin',
    scope: 'collections:read',
    summary: 'Get TypeScript types for the collections, as `cli types` writes them without extension routes',
    answers: { 200: otherContent('text/plain', 'the types') },
    async handler() {
      const { collections } = await exportSnapshot(database, nowSec());
      const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };
      const definitions = collections.map(({ name, type, fields }) => ({ name, type, fields: JSON.parse(fields) }));
      return { status: 200, headers, text: typesDocument(definitions) };
    },
  }),
  route({
    method: 'POST',
    idempotent: true,
    path: '/api/v1/admin/migrations/apply',
    access: 'admin',
    scope: 'collections:apply',
    summary: "Create a snapshot's missing collections; with mode sync, also change existing ones",
    body: snapshotBody,
    bodyLimitBytes,
    answers: {
      200: mayWarn(z.object({ mode: z.enum(['additive', 'sync']), created: names, updated: names, unchanged: names })),
      409: 'A unique index would cover duplicate values.',
    },
    async handler(input) {
      const applied = await applySnapshot(changes, await readSnapshot(input.body), nowSec(), actorOf(input));
      const { collections } = await loadCollections(database.read);
      const changed = new Set([...applied.created, ...applied.updated]);
      const warnings: string[] = [];
      for await (const collection of inSlices(collections.filter(({ name }) => changed.has(name))))
        warnings.push(...warningsOfDefinition(collection, collections));
      return withWarnings(ok(applied), warnings);
    },
  }),
];
