import type { CollectionCache } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { describeRoutes, type Route, type RouteManifest, type ServiceDescription } from '@recordbus/shared/http';
import type { Service } from '@recordbus/shared/service';
import { describeCollections, type RecordRoutes } from './describe-collections.ts';

/** Creates the description of the collections of the cache, once for each schema version and type of caller. */
export function createCollectionDescriptions(
  cache: Pick<CollectionCache, 'all' | 'version'>,
  declared: Readonly<Record<keyof RecordRoutes, Route>>,
): NonNullable<Service['describe']> {
  const described = Object.entries(declared).map(([name, route]) => [name, describeRoutes([route])[0]]);
  const routes = Object.fromEntries(described) as Record<keyof RecordRoutes, RouteManifest>;
  const made = new Map<
    Principal['type'],
    { readonly schemaVersion: number; readonly description: ServiceDescription }
  >();

  return async ({ type: kind }) => {
    const schemaVersion = cache.version;
    const known = made.get(kind);
    if (known?.schemaVersion === schemaVersion) return known.description;
    const description = describeCollections({ collections: cache.all(), routes, version: String(schemaVersion) }, kind);
    made.set(kind, { schemaVersion, description });
    return description;
  };
}
