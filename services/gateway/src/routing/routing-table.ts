import { AppError, unavailable } from '@recordbus/shared/errors';
import { createRouter, type Match, type RouteManifest } from '@recordbus/shared/http';
import type { Upstream } from '../upstream/upstream.ts';

/** One path of a service's route, and the service that answers it. */
export interface RouteEntry {
  readonly method: RouteManifest['method'];
  readonly paths: readonly [string];
  /** Every path of the route, this one among them. */
  readonly aliases: readonly string[];
  readonly access: RouteManifest['access'];
  readonly action: RouteManifest['action'];
  readonly bodyLimitBytes: number;
  readonly multipartLimitBytes: number | undefined;
  readonly upstream: Upstream;
  readonly spanName: string;
}

/** The routes of all services as one table. */
export interface RoutingTable {
  /**
   * What a method and a path (no query) lead to. Throws 404, 405 or 400 as createRouter does, but 503 while the path
   * may belong to a service that has not told its routes yet.
   */
  find(method: string, path: string): Match<RouteEntry>;
  /** Puts in or replaces the routes of a service. Throws for a route that another service has declared. */
  setRoutes(upstream: Upstream, routes: readonly RouteManifest[]): void;
}

/** Paths under /api that belong to no collection (contract §1), and routes that would take them for one. */
const systemPath =
  /^\/api\/(v1\/)?(admin|auth|batch|collections|files|health|metrics|realtime|records|settings|x)(\/|$)/;
const takesAnyName = (path: string) => /^\/api\/(v1\/)?:/.test(path);

/** Makes the table of these services; it is complete once each has told its routes. */
export function createRoutingTable(upstreams: readonly Upstream[]): RoutingTable {
  const entries = new Map<Upstream, readonly RouteEntry[]>();
  let findEntry = createRouter<RouteEntry>([]);

  const findIncomplete = (method: string, path: string): Match<RouteEntry> => {
    try {
      const match = findEntry(method, path);
      if (!takesAnyName(match.route.paths[0]) || !systemPath.test(path)) return match;
    } catch (error) {
      if (!(error instanceof AppError) || error.status === 400) throw error;
    }
    throw unavailable('a service is still starting');
  };

  return {
    find: (method, path) =>
      entries.size === upstreams.length ? findEntry(method, path) : findIncomplete(method, path),
    setRoutes(upstream, routes) {
      const changed = new Map(entries).set(upstream, toEntries(upstream, routes));
      findEntry = createRouter([...changed.values()].flat());
      entries.set(upstream, changed.get(upstream) ?? []);
    },
  };
}

const toEntries = (upstream: Upstream, routes: readonly RouteManifest[]): RouteEntry[] =>
  routes.flatMap(({ method, paths, access, action, bodyLimitBytes, multipartLimitBytes }) =>
    paths.map((path) => ({
      method,
      paths: [path] as const,
      aliases: paths,
      access,
      action,
      bodyLimitBytes,
      multipartLimitBytes,
      upstream,
      spanName: `${method} ${path}`,
    })),
  );
