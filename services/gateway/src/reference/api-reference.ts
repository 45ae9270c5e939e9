import type { ServiceDescription } from '@recordbus/http';
import { composeDocument, type OpenApiVersion, olderDocument } from '@recordbus/openapi';
import type { RequestContext } from '@recordbus/request/context';
import { LRUCache } from 'lru-cache';
import type { Upstream, UpstreamRoutes } from '../upstream/upstream.ts';
import { type HashedText, joinParts, jsonParts } from './hashed-text.ts';

/** Composes the API's description from the services' routes and their own descriptions. */
export interface ApiReference {
  /** Sets or replaces a service's routes. */
  setRoutes(upstream: Upstream, routes: UpstreamRoutes): void;
  /** Returns the document for a caller as JSON text. Rejects with 503 while a service does not answer. */
  find(context: RequestContext, version: OpenApiVersion): Promise<HashedText>;
}

/** The document, its paths and components, and their members. */
const jsonLevels = 3;

/** Guests, users and admins have one document each, in two versions. Others cover the time around a change. */
const maxCachedDocuments = 8;

/** Creates these services' reference. */
export function createApiReference(upstreams: readonly Upstream[], productVersion: string): ApiReference {
  const routes = new Map<Upstream, UpstreamRoutes>();
  const cache = new LRUCache<string, Promise<HashedText>>({ max: maxCachedDocuments });

  async function compose(descriptions: readonly ServiceDescription[], version: OpenApiVersion): Promise<HashedText> {
    // In the services' order, not the order in which they answered.
    const described = await Promise.all(upstreams.map((upstream) => routes.get(upstream)?.describe() ?? []));
    const document = await composeDocument({
      version: productVersion,
      routes: described.flat(),
      descriptions,
    });
    return joinParts(jsonParts(version === '3.0' ? await olderDocument(document) : document, jsonLevels));
  }

  return {
    setRoutes(upstream, declared) {
      routes.set(upstream, declared);
      cache.clear();
    },
    async find(context, version) {
      const answers = await Promise.all(upstreams.map(({ describe }) => describe(context)));
      const descriptions = answers.filter((description) => description !== undefined);
      const key = JSON.stringify([version, ...descriptions.map((description) => description.version)]);
      // A promise, so that concurrent callers share the work. A failure is not kept.
      const reference =
        cache.get(key) ??
        compose(descriptions, version).catch((error: unknown) => {
          cache.delete(key);
          throw error;
        });
      cache.set(key, reference);
      return reference;
    },
  };
}
