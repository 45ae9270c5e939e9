import { readFileSync } from 'node:fs';
import type { OpenApiDocument } from '@recordbus/openapi';
import {
  isKnownVersion,
  otherContent,
  plainText,
  type Reply,
  type Route,
  rawJson,
  route,
  wholeBody,
  withHeaders,
} from '@recordbus/shared/http';
import { z } from 'zod';
import { type ApiReference, etagOf } from '../reference/api-reference.ts';
import { renderPage } from '../reference/render-page.ts';

const ifNoneMatch = { 'If-None-Match': 'the ETag that the caller has' };
const etagHeader = { ETag: 'Of what is answered' };
const known = 'the caller has it';

/** The page loads its style and its script from this site, asks this site, and nothing else can happen on it. */
const pagePolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** How the API describes itself. */
export const referenceRoutes = ({ find }: Pick<ApiReference, 'find'>): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/openapi.json',
    access: 'public',
    summary: 'This description, as OpenAPI 3.1: all routes, and the collections that the caller may see',
    requestHeaders: ifNoneMatch,
    answers: {
      200: withHeaders(wholeBody(z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) })), {
        ETag: 'Of this document',
      }),
      304: known,
    },
    async handler({ context, header }) {
      const { json, etag } = await find(context);
      const reply = rawJson(200, json, { ETag: etag, 'Cache-Control': 'private, no-cache' });
      return unlessKnown(header('if-none-match'), etag, reply);
    },
  }),
  route({
    method: 'GET',
    // Who opens the bare address in a browser sees something to go on with.
    path: ['/docs', '/'],
    access: 'public',
    summary: 'This description as a page to read',
    requestHeaders: ifNoneMatch,
    answers: { 200: withHeaders(otherContent('text/html', 'the page'), etagHeader), 304: known },
    async handler({ context, header }) {
      const { html, etag } = pageOf((await find(context)).document);
      const reply = textReply('text/html', html, etag, 'private, no-cache');
      const headers = { ...reply.headers, 'Content-Security-Policy': pagePolicy };
      return unlessKnown(header('if-none-match'), etag, { ...reply, headers });
    },
  }),
  asset('css', 'text/css', 'The style of the page'),
  asset('js', 'text/javascript', 'The script of the page'),
];

/** Pages of documents that are in use. */
const pages = new WeakMap<OpenApiDocument, { readonly html: string; readonly etag: string }>();

function pageOf(document: OpenApiDocument): { readonly html: string; readonly etag: string } {
  const known = pages.get(document);
  if (known) return known;
  const html = renderPage(document);
  const page = { html, etag: etagOf(html) };
  pages.set(document, page);
  return page;
}

/** A file that belongs to the page. */
function asset(extension: string, contentType: string, summary: string): Route {
  const text = readFileSync(new URL(`../reference/reference.${extension}`, import.meta.url), 'utf8');
  const etag = etagOf(text);
  return route({
    method: 'GET',
    path: `/docs/reference.${extension}`,
    access: 'public',
    summary,
    requestHeaders: ifNoneMatch,
    answers: { 200: withHeaders(otherContent(contentType, 'the file'), etagHeader), 304: known },
    handler: ({ header }) =>
      unlessKnown(header('if-none-match'), etag, textReply(contentType, text, etag, 'public, no-cache')),
  });
}

const textReply = (contentType: string, text: string, etag: string, cacheControl: string): Reply => {
  const reply = plainText(`${contentType}; charset=utf-8`, text);
  return { ...reply, headers: { ...reply.headers, ETag: etag, 'Cache-Control': cacheControl } };
};

/** The answer, or 304 for who has it. */
const unlessKnown = (header: string | undefined, etag: string, reply: Reply): Reply =>
  isKnownVersion(header, etag) ? { status: 304, ...(reply.headers && { headers: bare(reply.headers) }) } : reply;

/** Without what speaks of a body that is not there. */
const bare = ({ 'Content-Type': _, ...headers }: Readonly<Record<string, string>>) => headers;
