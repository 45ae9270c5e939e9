import { describeRoutes, type Route, type RouteManifest, type ServiceDescription } from '@recordbus/http';
import type { Service } from '@recordbus/http/service';
import type { CollectionCache } from '@recordbus/schema';
import { callerKind } from '../rules/compile-rule.ts';
import { describeCollections } from './describe-collections.ts';
import type { RecordRoutes } from './shown-collection.ts';

/** How many descriptions are cached. Each may have megabytes. */
const maxKinds = 32;

/** Describes the cached collections, once for each schema version and kind of caller. */
export function createCollectionDescriptions(
  cache: Pick<CollectionCache, 'all' | 'version'>,
  declared: Readonly<Record<keyof RecordRoutes, Route>>,
): NonNullable<Service['describe']> {
  const described = Object.entries(declared).map(([name, route]) => [name, describeRoutes([route])[0]]);
  const routes = Object.fromEntries(described) as Record<keyof RecordRoutes, RouteManifest>;
  const made = new Map<string, { readonly schemaVersion: number; readonly description: Promise<ServiceDescription> }>();

  return async (principal) => {
    const kind = callerKind({ principal });
    const schemaVersion = cache.version;
    const known = made.get(kind);
    if (known?.schemaVersion === schemaVersion) return known.description;
    const version = `${kind} ${schemaVersion}`;
    const description = describeCollections({ collections: cache.all(), routes, version }, principal);
    if (made.size >= maxKinds) made.delete(made.keys().next().value ?? '');
    made.set(kind, { schemaVersion, description });
    return description;
  };
}
