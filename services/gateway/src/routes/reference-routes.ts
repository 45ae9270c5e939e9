import { isKnownVersion, type Route, rawJson, route, wholeBody, withHeaders } from '@recordbus/shared/http';
import { z } from 'zod';
import type { ApiReference } from '../reference/api-reference.ts';

/** How the API describes itself. */
export const referenceRoutes = ({ find }: Pick<ApiReference, 'find'>): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/openapi.json',
    access: 'public',
    summary: 'This description, as OpenAPI 3.1: all routes, and the collections that the caller may see',
    requestHeaders: { 'If-None-Match': 'the ETag of the document that the caller has' },
    answers: {
      200: withHeaders(wholeBody(z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) })), {
        ETag: 'Of this document',
      }),
      304: 'the caller has this document',
    },
    async handler({ context, header }) {
      const { json, etag } = await find(context);
      const headers = { ETag: etag, 'Cache-Control': 'private, no-cache' };
      return isKnownVersion(header('if-none-match'), etag) ? { status: 304, headers } : rawJson(200, json, headers);
    },
  }),
];
