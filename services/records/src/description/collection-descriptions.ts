import type { CollectionCache } from '@recordbus/schema';
import { type Description, describeRoutes, type Route, type RouteManifest } from '@recordbus/shared/http';
import type { Service } from '@recordbus/shared/service';
import { describeCollections, type RecordRoutes } from './describe-collections.ts';

/** Describes the collections of the cache; made once for each schema version, for admins and for all others. */
export function createCollectionDescriptions(
  cache: Pick<CollectionCache, 'all' | 'version'>,
  declared: Readonly<Record<keyof RecordRoutes, Route>>,
): NonNullable<Service['describe']> {
  const described = Object.entries(declared).map(([name, route]) => [name, describeRoutes([route])[0]]);
  const routes = Object.fromEntries(described) as Record<keyof RecordRoutes, RouteManifest>;
  const made = new Map<boolean, { readonly schemaVersion: number; readonly description: Description }>();

  return async (principal) => {
    const isAdmin = principal.type === 'admin';
    const schemaVersion = cache.version;
    const known = made.get(isAdmin);
    if (known?.schemaVersion === schemaVersion) return known.description;
    const description = describeCollections(
      { collections: cache.all(), routes, version: String(schemaVersion) },
      principal,
    );
    made.set(isAdmin, { schemaVersion, description });
    return description;
  };
}
