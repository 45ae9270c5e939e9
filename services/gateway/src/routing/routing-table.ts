import { AppError, unavailable } from '@recordbus/errors';
import { createRouter, type Match, type RouteManifest } from '@recordbus/http';
import { isReservedCollectionName, mayBeCollectionName } from '@recordbus/schema';
import type { ForwardedRoute, Upstream } from '../upstream/upstream.ts';

/** One path to a route, and the service that answers it. */
export interface RouteEntry {
  readonly method: RouteManifest['method'];
  readonly paths: readonly [string];
  /** Every path to the route, this one included. */
  readonly aliases: readonly string[];
  readonly access: RouteManifest['access'];
  readonly scope: RouteManifest['scope'];
  readonly action: RouteManifest['action'];
  readonly otherAction: RouteManifest['otherAction'];
  readonly bodyLimitBytes: number;
  readonly multipartLimitBytes: number | undefined;
  /** Whether answers stay open until their clients leave. */
  readonly staysOpen: boolean;
  /** Whether a guest may have an enrollment token, which the service checks (auth §6.10). */
  readonly takesEnrollment: boolean;
  /** Whether the service checks `Authorization` itself. */
  readonly readsAuthorization: boolean;
  readonly upstream: Upstream;
}

/** All services' routes in one table. */
export interface RoutingTable {
  /**
   * Finds the route for a method and a path (without query). Throws 404, 405 or 400 as createRouter does, but 503 while
   * the path may belong to a service whose routes are not loaded yet.
   */
  find(method: string, path: string): Match<RouteEntry>;
  /** Sets or replaces a service's routes. Throws for a route that another service declares. */
  setRoutes(upstream: Upstream, routes: readonly ForwardedRoute[]): void;
}

/** The shapes of paths that begin with a collection name (records §1.1). */
const recordShape = /^\/api\/(v1\/)?(records\/)?:0/;

/**
 * `/api/v1/admin/nowhere` has a record path's shape, but `admin` is reserved: 404 for any method. Below /api/v1/records
 * no route hides a collection, so one that had its name before it was reserved is found there.
 */
function isNoRecordPath(shape: string, values: Readonly<Record<number, string | undefined>>): boolean {
  const prefix = recordShape.exec(shape);
  if (!prefix) return false;
  const [, , belowRecords] = prefix;
  const name = values[0] ?? '';
  return !mayBeCollectionName(name) || (belowRecords === undefined && isReservedCollectionName(name));
}

/** Creates these services' table; it is complete once each one's routes are set. */
export function createRoutingTable(upstreams: readonly Upstream[]): RoutingTable {
  const entries = new Map<Upstream, readonly RouteEntry[]>();
  let findEntry = createRouter<RouteEntry>([]);

  const findIncomplete = (method: string, path: string): Match<RouteEntry> => {
    try {
      return findEntry(method, path);
    } catch (error) {
      if (!(error instanceof AppError) || error.status === 400) throw error;
      throw unavailable('a service is still starting');
    }
  };

  return {
    find: (method, path) =>
      entries.size === upstreams.length ? findEntry(method, path) : findIncomplete(method, path),
    setRoutes(upstream, routes) {
      const changed = new Map(entries).set(upstream, toEntries(upstream, routes));
      findEntry = createRouter([...changed.values()].flat(), isNoRecordPath);
      entries.set(upstream, changed.get(upstream) ?? []);
    },
  };
}

const toEntries = (upstream: Upstream, routes: readonly ForwardedRoute[]): RouteEntry[] =>
  routes.flatMap(
    ({ method, paths, access, scope, action, otherAction, bodyLimitBytes, multipartLimitBytes, ...traits }) =>
      paths.map((path) => ({
        method,
        paths: [path] as const,
        aliases: paths,
        access,
        scope,
        action,
        otherAction,
        bodyLimitBytes,
        multipartLimitBytes,
        staysOpen: traits.staysOpen === true,
        takesEnrollment: traits.takesEnrollment === true,
        readsAuthorization: traits.readsAuthorization === true,
        upstream,
      })),
  );
