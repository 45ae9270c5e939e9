import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { AppError, notFound } from '@recordbus/shared/errors';
import {
  flag,
  freeText,
  isKnownVersion,
  otherContent,
  type Reply,
  type Route,
  route,
  withHeaders,
} from '@recordbus/shared/http';
import type { FileKey } from '@recordbus/storage';
import { z } from 'zod';
import { type ByteRange, readByteRange } from '../files/byte-range.ts';
import { askingAs, type FoundFile } from '../files/find-file.ts';
import { readThumbSize, thumbSize } from '../files/thumb-size.ts';
import type { Thumb } from '../files/thumbs.ts';
import type { RouteDeps } from './route-deps.ts';

const params = z.object({ collection: z.string(), id: z.string(), filename: z.string() });

const fileHeaders = { ETag: 'Of the file', 'Content-Disposition': 'Whether to show or to save it' };

/** `GET /api/files/<col>/<id>/<filename>`. */
export const downloadRoute = (deps: RouteDeps): Route =>
  route({
    method: 'GET',
    path: ['/api/files/:collection/:id/:filename', '/api/v1/files/:collection/:id/:filename'],
    access: 'public',
    action: 'view',
    summary: 'Download a file',
    params,
    query: z.object({
      token: freeText.describe('opens a protected file, see POST /api/v1/files/token'),
      thumb: freeText.meta({
        pattern: thumbSize.source,
        description: 'an image of this size instead, as 100x100, 0x100 or 100x0, with t, b or f behind it',
      }),
      download: flag.describe('to be saved, not shown'),
    }),
    requestHeaders: {
      Range: 'the bytes that are wanted',
      'If-Range': 'the ETag of the file that the caller has a part of',
      'If-None-Match': 'the ETag of the file that the caller has',
    },
    answers: {
      200: withHeaders(otherContent('*/*', 'the bytes'), fileHeaders),
      206: withHeaders(otherContent('*/*', 'the bytes of the range'), {
        ...fileHeaders,
        'Content-Range': 'Which bytes of how many',
      }),
      304: 'the caller has them',
      400: 'the size of a preview, or whether to save the file, can not be read',
      401: 'a token is required',
      403: 'a rule refuses, or the token is for another address',
      404: 'no such file',
      410: 'the token was used',
      416: 'the range lies beyond the file',
    },
    handler: async (input) => {
      const { downloads, collections, schema } = deps;
      const { params, query, context, header, isHead } = input;
      const size = query.thumb === undefined ? undefined : readThumbSize(query.thumb);
      const file = { recordId: params.id, filename: params.filename };
      const token = await downloads.tokens.read(query.token, { name: params.collection }, file);
      const principal = await downloads.tokens.principalOf(context, token);
      const request = { collection: params.collection, action: 'view', principal } as const;
      return collections.serve(request, async (collection) => {
        const asking = askingAs(principal, schema, { query: input.queryText, header });
        const found = await downloads.find(collection, file, asking);
        await downloads.tokens.check(found, token, context);
        const whole = await findBytes(deps, found);
        const shown = (size && (await downloads.thumbs.find(whole, size))) ?? whole;
        const isPublic = isOpenToAll(found, collection.rules.view);
        const reply = answer(shown, {
          filename: params.filename,
          isAttachment: query.download,
          cacheControl: isPublic ? 'public, max-age=604800, immutable' : 'private, no-cache',
          isHead,
          header,
          open: (key, range) => downloads.storage.open(key, range),
        });
        if (!isHead) {
          await downloads.tokens.use(found, token, context);
          const { clientAddress } = context;
          await downloads.audit(collection, file, found, { principal, clientAddress, userAgent: header('user-agent') });
        }
        return reply;
      });
    },
  });

/** May a cache between here and the caller keep it? */
const isOpenToAll = ({ options }: FoundFile, viewRule: string | null): boolean =>
  viewRule === null &&
  options.viewRule === null &&
  !(options.requireAuth || options.protected || options.oneTimeToken || options.bindTokenIp || options.auditDownloads);

async function findBytes({ downloads }: RouteDeps, { key }: FoundFile): Promise<Thumb> {
  const stored = await downloads.storage.find(key);
  if (!stored) throw notFound('file');
  return { key, ...stored, type: await downloads.types.of(key, stored.sizeBytes) };
}

interface Asked {
  readonly filename: string;
  readonly isAttachment: boolean;
  readonly cacheControl: string;
  readonly isHead: boolean;
  header(name: string): string | undefined;
  open(key: FileKey, range: ByteRange | undefined): Promise<Readable | undefined>;
}

/** What a browser would run as a page of this site. */
const active = /^(text\/html|image\/svg\+xml|text\/xml|application\/(xml|xhtml\+xml))$/;

function answer({ key, sizeBytes, type }: Thumb, asked: Asked): Reply {
  const etag = `"${createHash('sha256').update(key.segments.join('/')).digest('base64url').slice(0, 27)}"`;
  const disposition = asked.isAttachment || active.test(type) ? 'attachment' : 'inline';
  const headers = {
    ETag: etag,
    'Cache-Control': asked.cacheControl,
    'Accept-Ranges': 'bytes',
    'Content-Type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    'Content-Disposition': `${disposition}; filename="${asked.filename}"`,
    'X-Content-Type-Options': 'nosniff',
    // Should a browser show it as a page all the same, it can do nothing there.
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src 'self'",
  };
  if (isKnownVersion(asked.header('if-none-match'), etag))
    return { status: 304, headers: { ETag: etag, 'Cache-Control': asked.cacheControl } };
  const range = asked.isHead ? undefined : rangeOf(asked, etag, sizeBytes);
  if (range === 'unsatisfiable')
    throw new AppError(416, 'range_not_satisfiable', `the file has ${sizeBytes} bytes`, {
      headers: { 'Content-Range': `bytes */${sizeBytes}` },
    });
  const openStream = async () => {
    const stream = await asked.open(key, range);
    if (!stream) throw notFound('file');
    return stream;
  };
  if (!range) return { status: 200, headers: { ...headers, 'Content-Length': String(sizeBytes) }, openStream };
  const { start, end } = range;
  const partial = { 'Content-Length': String(end - start + 1), 'Content-Range': `bytes ${start}-${end}/${sizeBytes}` };
  return { status: 206, headers: { ...headers, ...partial }, openStream };
}

/** A range of another version than the client has a part of is no use to it (RFC 9110 §13.1.5): then it gets the whole. */
function rangeOf({ header }: Asked, etag: string, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const condition = header('if-range');
  return condition === undefined || condition.trim() === etag ? readByteRange(header('range'), sizeBytes) : undefined;
}
