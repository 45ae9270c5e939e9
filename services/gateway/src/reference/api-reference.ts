import { createHash } from 'node:crypto';
import { composeDocument, type OpenApiDocument } from '@recordbus/openapi';
import type { RequestContext } from '@recordbus/shared/context';
import type { Description, RouteManifest } from '@recordbus/shared/http';
import { LRUCache } from 'lru-cache';
import type { Upstream } from '../upstream/upstream.ts';

/** The description of the API as one caller may see it. */
export interface Reference {
  readonly document: OpenApiDocument;
  /** The document as JSON text. */
  readonly json: string;
  /** Of the document; another one for another document. */
  readonly etag: string;
}

/** Puts together what the services say of their routes and of what they serve beside them. */
export interface ApiReference {
  /** Puts in or replaces the routes of a service. */
  setRoutes(upstream: Upstream, routes: readonly RouteManifest[]): void;
  /** Rejects with 503 while a service that may have something to add can't be asked. */
  find(context: RequestContext): Promise<Reference>;
}

/** A version for a text: another one for another text. */
export const etagOf = (text: string): string =>
  `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;

/** Guests and users see one document, admins another, and each of them has changed when a collection has. */
const keptDocuments = 4;

/** Makes the reference of these services; `version` is that of the product. */
export function createApiReference(upstreams: readonly Upstream[], version: string): ApiReference {
  const routes = new Map<Upstream, readonly RouteManifest[]>();
  const kept = new LRUCache<string, Reference>({ max: keptDocuments });

  function compose(descriptions: readonly Description[]): Reference {
    // In the order of the services, whichever told its routes first.
    const document = composeDocument({
      version,
      routes: upstreams.flatMap((upstream) => routes.get(upstream) ?? []),
      descriptions,
    });
    const json = JSON.stringify(document);
    return { document, json, etag: etagOf(json) };
  }

  return {
    setRoutes(upstream, told) {
      routes.set(upstream, told);
      kept.clear();
    },
    async find(context) {
      const told = await Promise.all(upstreams.map(({ describe }) => describe(context)));
      const descriptions = told.filter((description) => description !== undefined);
      const key = JSON.stringify(descriptions.map((description) => description.version));
      const reference = kept.get(key) ?? compose(descriptions);
      kept.set(key, reference);
      return reference;
    },
  };
}
