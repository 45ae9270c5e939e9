import { readFileSync } from 'node:fs';
import type { ApiAudience } from '@recordbus/settings';
import type { Principal } from '@recordbus/shared/context';
import { notFound } from '@recordbus/shared/errors';
import {
  isKnownVersion,
  otherContent,
  plainText,
  type Reply,
  type Route,
  route,
  wholeBody,
  withHeaders,
} from '@recordbus/shared/http';
import { rightsOf } from '@recordbus/shared/key-rights';
import { z } from 'zod';
import type { ApiReference } from '../reference/api-reference.ts';
import { etagOf } from '../reference/hashed-text.ts';

const ifNoneMatch = { 'If-None-Match': 'the ETag of a cached answer' };
const etagHeader = { ETag: 'The ETag of the answer' };
const notModified = 'the cached answer is current';

/** The page loads its style and script from this site and sends requests only to it; everything else is forbidden. */
const pagePolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

interface ReferenceRoutesDeps extends Pick<ApiReference, 'find'> {
  /** The callers that may read the description. */
  readonly audience: () => ApiAudience;
}

const notForCaller = { 404: 'the setting openapi.audience excludes this caller' };

/** The routes of the API's own description (http §12). */
export const referenceRoutes = ({ find, audience }: ReferenceRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/openapi.json',
    access: 'public',
    scope: 'any',
    summary: 'Get the API document, as OpenAPI 3.1: all routes, and the collections that the caller may use',
    requestHeaders: ifNoneMatch,
    answers: {
      200: withHeaders(wholeBody(z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) })), {
        ETag: 'The ETag of this document',
      }),
      304: notModified,
      ...notForCaller,
    },
    async handler({ context, header }) {
      admit(context.principal, audience());
      const { bytes, etag } = (await find(context)).json;
      const reply: Reply = { status: 200, text: bytes, headers: { ...json, ETag: etag, ...ofThisCaller } };
      return unlessKnown(header('if-none-match'), etag, reply);
    },
  }),
  route({
    method: 'GET',
    // The bare address shows the page too, for those who open it in a browser.
    path: ['/docs', '/'],
    access: 'public',
    scope: 'any',
    summary: 'Get the API document as a page',
    requestHeaders: ifNoneMatch,
    answers: { 200: withHeaders(otherContent('text/html', 'the page'), etagHeader), 304: notModified, ...notForCaller },
    async handler({ context, header }) {
      admit(context.principal, audience());
      const { bytes, etag } = await (await find(context)).page();
      const reply = textReply('text/html', bytes, etag);
      const headers = { ...reply.headers, ...ofThisCaller, 'Content-Security-Policy': pagePolicy };
      return unlessKnown(header('if-none-match'), etag, { ...reply, headers });
    },
  }),
  asset('css', 'text/css', 'The style of the page'),
  asset('js', 'text/javascript', 'The script of the page'),
];

const json = { 'Content-Type': 'application/json; charset=utf-8' };

/** Keeps caches from giving the answer to another caller. */
const ofThisCaller = { 'Cache-Control': 'private, no-cache', Vary: 'Origin, Authorization' };

const readers: Readonly<Record<ApiAudience, ReadonlySet<Principal['type']>>> = {
  all: new Set(['guest', 'user', 'admin', 'service']),
  users: new Set(['user', 'admin', 'service']),
  admins: new Set(['admin']),
};

/** Throws 404 for callers whom the setting excludes, as for an unknown path. */
function admit(principal: Principal, audience: ApiAudience): void {
  const isReader = readers[audience].has(principal.type) || seesSchema(principal);
  if (!isReader) throw notFound('route');
}

/** Whether a service key may read all definitions anyway. */
const seesSchema = (principal: Principal): boolean =>
  principal.type === 'service' && rightsOf(principal.scopes).has('collections:read');

/** The route of a file that the page loads. */
function asset(extension: string, contentType: string, summary: string): Route {
  const text = readFileSync(new URL(`../reference/reference.${extension}`, import.meta.url), 'utf8');
  const etag = etagOf(text);
  return route({
    method: 'GET',
    path: `/docs/reference.${extension}`,
    access: 'public',
    scope: 'any',
    summary,
    requestHeaders: ifNoneMatch,
    answers: { 200: withHeaders(otherContent(contentType, 'the file'), etagHeader), 304: notModified },
    handler: ({ header }) => unlessKnown(header('if-none-match'), etag, textReply(contentType, text, etag)),
  });
}

const textReply = (contentType: string, text: string | Buffer, etag: string): Reply => {
  const reply = plainText(`${contentType}; charset=utf-8`, text);
  return { ...reply, headers: { ...reply.headers, ETag: etag, 'Cache-Control': 'public, no-cache' } };
};

/** Returns the answer, or 304 if the client's cached answer is current. */
const unlessKnown = (header: string | undefined, etag: string, reply: Reply): Reply =>
  isKnownVersion(header, etag)
    ? { status: 304, ...(reply.headers && { headers: withoutContentType(reply.headers) }) }
    : reply;

/** Removes the header that describes a body. */
const withoutContentType = ({ 'Content-Type': _, ...headers }: Readonly<Record<string, string>>) => headers;
