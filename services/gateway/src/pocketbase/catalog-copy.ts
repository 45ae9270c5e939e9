import { type Catalog, createCatalog } from '@recordbus/pocketbase-clients';
import type { CollectionCache } from '@recordbus/schema';

/** The collections that the translation needs. They are loaded at the first request, so that it costs nothing while it is off. */
export interface CatalogSource {
  /** Starts following the collections. */
  open(): Promise<Pick<CollectionCache, 'all' | 'version'>>;
  /** The schema version that this process knows; before `open`, none. */
  version(): number;
  close(): Promise<void>;
}

/** Shares a cache that the process has anyway. */
export const sharedCatalogSource = (collections: CollectionCache): CatalogSource => ({
  open: async () => collections,
  version: () => collections.version,
  close: async () => {},
});

/** Starts a cache when it is needed. */
export function ownCatalogSource(collections: CollectionCache): CatalogSource {
  let started: Promise<void> | undefined;
  return {
    async open() {
      started ??= collections.start();
      try {
        await started;
      } catch (error) {
        started = undefined;
        throw error;
      }
      return collections;
    },
    version: () => (started ? collections.version : 0),
    async close() {
      if (started) await collections.stop();
    },
  };
}

/** Returns the catalog of the current collections. */
export function createFindCatalog(source: CatalogSource): () => Promise<Catalog> {
  let made: { readonly version: number; readonly catalog: Catalog } | undefined;
  return async () => {
    const collections = await source.open();
    if (made?.version !== collections.version)
      made = { version: collections.version, catalog: createCatalog(collections.all()) };
    return made.catalog;
  };
}
