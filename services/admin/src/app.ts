import type { Bus } from '@recordbus/bus';
import { type Database, mapDatabaseError } from '@recordbus/database';
import { createDispatcher } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import type { Service } from '@recordbus/shared/service';
import { createSchemaChanges } from './collections/schema-changes.ts';
import { collectionRoutes } from './routes/collections.ts';

export interface AdminDeps {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Bus;
  /** The time in milliseconds. */
  readonly clock?: () => number;
}

/** The admin service: collections with their tables, and admins. */
export function createAdmin({ log, database, bus, clock = Date.now }: AdminDeps): Service {
  const nowSec = () => Math.floor(clock() / 1000);
  const changes = createSchemaChanges({ database, bus });
  const routes = [...collectionRoutes({ database, changes, nowSec })];
  return {
    name: 'admin',
    routes,
    handle: createDispatcher(routes, { log, mapError: mapDatabaseError }),
    checks: { database: () => database.ping(), bus: () => bus.ping() },
    start: async () => {},
    stop: async () => {},
  };
}
