import type { Database } from '@recordbus/database';
import { ok, type Route, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { authorOf } from '../audit/author.ts';
import type { SchemaChanges } from '../collections/schema-changes.ts';
import { applySnapshot } from '../snapshots/apply-snapshot.ts';
import { snapshotJson, snapshotToApply } from '../snapshots/snapshot-document.ts';
import { exportSnapshot } from '../snapshots/snapshots.ts';

interface SnapshotRoutesDeps {
  readonly database: Database;
  readonly changes: SchemaChanges;
  readonly nowSec: () => number;
}

const names = z.array(z.string());

/** A snapshot holds every definition, so it may be far larger than a body usually is. */
const bodyLimitBytes = 16 * 1024 * 1024;

/** The whole schema as a document, and back (interface §4.2, contract §7, §8). */
export const snapshotRoutes = ({ database, changes, nowSec }: SnapshotRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/admin/migrations/snapshot',
    access: 'admin',
    summary: "Every collection's full definition, indexes included",
    answers: { 200: snapshotJson },
    handler: async () => ok(await exportSnapshot(database, nowSec())),
  }),
  route({
    method: 'POST',
    idempotent: true,
    path: '/api/v1/admin/migrations/apply',
    access: 'admin',
    summary: 'Make the collections of a snapshot that are missing; with mode sync, change those that exist as well',
    body: snapshotToApply,
    bodyLimitBytes,
    answers: {
      200: z.object({ mode: z.enum(['additive', 'sync']), created: names, updated: names, unchanged: names }),
      409: 'A unique index would be over values that are there twice.',
    },
    handler: async (input) => ok(await applySnapshot(changes, input.body, nowSec(), authorOf(input))),
  }),
];
