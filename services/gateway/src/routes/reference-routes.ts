import { isKnownVersion, type Reply, type Route, route, wholeBody, withHeaders } from '@recordbus/http';
import { openApiVersions } from '@recordbus/openapi';
import { type ApiAudience, admitReader } from '@recordbus/settings';
import { z } from 'zod';
import type { ApiReference } from '../reference/api-reference.ts';

const ifNoneMatch = { 'If-None-Match': "a cached answer's ETag" };
const notModified = 'the cached answer is current';

interface ReferenceRoutesDeps extends Pick<ApiReference, 'find'> {
  /** The callers that may read the description. */
  readonly audience: () => ApiAudience;
}

const notForCaller = { 404: 'the setting openapi.audience excludes this caller' };

/** The routes for the API's own description (http §12). */
export const referenceRoutes = ({ find, audience }: ReferenceRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/openapi.json',
    access: 'public',
    scope: 'any',
    summary: 'Get the API document, as OpenAPI: all routes, and the collections that the caller may use',
    query: z.object({
      version: z
        .enum(openApiVersions, `must be ${openApiVersions.join(' or ')}`)
        .default('3.1')
        .describe('OpenAPI version: 3.0 for generators that do not read 3.1'),
    }),
    requestHeaders: ifNoneMatch,
    answers: {
      200: withHeaders(wholeBody(z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) })), {
        ETag: "This document's ETag",
      }),
      304: notModified,
      400: 'an unknown version',
      ...notForCaller,
    },
    async handler({ context, header, query }) {
      admitReader(context.principal, audience());
      const { bytes, etag } = await find(context, query.version);
      const reply: Reply = { status: 200, text: bytes, headers: { ...json, ETag: etag, ...ofThisCaller } };
      return unlessKnown(header('if-none-match'), etag, reply);
    },
  }),
];

const json = { 'Content-Type': 'application/json; charset=utf-8' };

/** Keeps caches from giving the answer to another caller. */
const ofThisCaller = { 'Cache-Control': 'private, no-cache', Vary: 'Origin, Authorization' };

/** Returns the answer, or 304 if the client's cached answer is current. */
const unlessKnown = (header: string | undefined, etag: string, reply: Reply): Reply =>
  isKnownVersion(header, etag)
    ? { status: 304, ...(reply.headers && { headers: withoutContentType(reply.headers) }) }
    : reply;

/** Removes the header that describes a body. */
const withoutContentType = ({ 'Content-Type': _, ...headers }: Readonly<Record<string, string>>) => headers;
