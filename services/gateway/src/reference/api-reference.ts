import { createHash } from 'node:crypto';
import { composeDocument, type OpenApiDocument } from '@recordbus/openapi';
import type { RequestContext } from '@recordbus/shared/context';
import type { RouteManifest, ServiceDescription } from '@recordbus/shared/http';
import { LRUCache } from 'lru-cache';
import type { Upstream } from '../upstream/upstream.ts';

/** The description of the API that one caller may read. */
export interface Reference {
  readonly document: OpenApiDocument;
  /** The document as JSON text. */
  readonly json: string;
  /** The ETag of the document. */
  readonly etag: string;
}

/** Composes the description of the API from the services' routes and their own descriptions. */
export interface ApiReference {
  /** Sets or replaces the routes of a service. */
  setRoutes(upstream: Upstream, routes: readonly RouteManifest[]): void;
  /** Returns the description for a caller. Rejects with 503 while a service does not answer. */
  find(context: RequestContext): Promise<Reference>;
}

/** Returns the ETag of a text: its hash. */
export const etagOf = (text: string): string =>
  `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;

/** Guests, users and admins see one document each; three more cover the time around a change. */
const maxCachedDocuments = 6;

/** Creates the reference of these services; `version` is the product's. */
export function createApiReference(upstreams: readonly Upstream[], version: string): ApiReference {
  const routes = new Map<Upstream, readonly RouteManifest[]>();
  const cache = new LRUCache<string, Reference>({ max: maxCachedDocuments });

  function compose(descriptions: readonly ServiceDescription[]): Reference {
    // In the order of the services, not the order in which they answered.
    const document = composeDocument({
      version,
      routes: upstreams.flatMap((upstream) => routes.get(upstream) ?? []),
      descriptions,
    });
    const json = JSON.stringify(document);
    return { document, json, etag: etagOf(json) };
  }

  return {
    setRoutes(upstream, declared) {
      routes.set(upstream, declared);
      cache.clear();
    },
    async find(context) {
      const answers = await Promise.all(upstreams.map(({ describe }) => describe(context)));
      const descriptions = answers.filter((description) => description !== undefined);
      const key = JSON.stringify(descriptions.map((description) => description.version));
      const reference = cache.get(key) ?? compose(descriptions);
      cache.set(key, reference);
      return reference;
    },
  };
}
