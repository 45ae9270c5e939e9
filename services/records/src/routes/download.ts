import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { AppError, notFound } from '@recordbus/errors';
import {
  flag,
  freeText,
  isKnownVersion,
  otherContent,
  type Reply,
  type Route,
  route,
  withHeaders,
} from '@recordbus/http';
import { thumbSize } from '@recordbus/schema';
import type { FileKey } from '@recordbus/storage';
import { z } from 'zod';
import { type ByteRange, readByteRange } from '../files/byte-range.ts';
import { dispositionOf } from '../files/disposition.ts';
import { admit, type FoundFile, hasPublicFiles, ruleContextOf } from '../files/find-file.ts';
import { readThumbSize, requireThumbSize } from '../files/thumb-size.ts';
import type { Thumb } from '../files/thumbs.ts';
import type { RouteDeps } from './route-deps.ts';

const params = z.object({ collection: z.string(), id: z.string(), filename: z.string() });

const fileHeaders = { ETag: "The file's ETag", 'Content-Disposition': 'Whether to show or to save it' };

/** `GET /api/files/<col>/<id>/<filename>`. */
export const downloadRoute = (deps: RouteDeps): Route =>
  route({
    method: 'GET',
    path: ['/api/files/:collection/:id/:filename', '/api/v1/files/:collection/:id/:filename'],
    access: 'public',
    scope: 'files',
    action: 'view',
    summary: 'Download a file',
    params,
    query: z.object({
      token: freeText.describe('opens a protected file, see POST /api/v1/files/token'),
      thumb: freeText.meta({
        pattern: thumbSize.source,
        description: "a preview in this size instead: 100x100, or one that the field's option thumbs lists",
      }),
      download: flag.describe('send the file as an attachment'),
    }),
    requestHeaders: {
      Range: 'the bytes to return',
      'If-Range': 'the ETag of the file that the caller has in part',
      'If-None-Match': 'the ETag of the file that the caller has',
    },
    answers: {
      200: withHeaders(otherContent('*/*', 'the bytes'), fileHeaders),
      206: withHeaders(otherContent('*/*', "the range's bytes"), {
        ...fileHeaders,
        'Content-Range': "This answer's bytes, and the file's size",
      }),
      304: 'the caller has the file',
      400: 'the field has no previews in this size, or download is invalid',
      401: 'a token is required',
      403: 'a rule refuses, or the token is for another address',
      404: 'no such file',
      410: 'the token was used',
      416: 'the range lies beyond the file',
      422: 'the picture takes too much memory or time to decode',
      503: 'too many previews are being created',
    },
    handler: async (input) => {
      const { downloads, collections, schema } = deps;
      const { params, query, context, header, isHead } = input;
      const size = query.thumb === undefined ? undefined : readThumbSize(query.thumb);
      const file = { recordId: params.id, filename: params.filename };
      const name = collections.nameOf(params.collection);
      const token = await downloads.tokens.read(query.token, { name }, file);
      const principal = await downloads.tokens.principalOf(context, token);
      const request = {
        collection: name,
        action: 'view',
        principal,
        isOpenAnyway: hasPublicFiles,
      } as const;
      return collections.serve(request, async (collection) => {
        const ruleContext = ruleContextOf(principal, schema, { query: input.queryText, header });
        const found = await downloads.locate(collection, file, ruleContext);
        downloads.tokens.require(found, token, context);
        admit(found, principal);
        await downloads.tokens.check(found, token, context);
        if (query.thumb !== undefined) requireThumbSize(query.thumb, found.options.thumbs);
        const whole = await findBytes(deps, found);
        const sent = (size && (await downloads.thumbs.find(whole, size))) ?? whole;
        // Rules that a key passes look open to it.
        const isPublic = principal.type !== 'service' && isOpenToAll(found, collection.rules.view);
        const reply = answer(sent, {
          filename: found.original ?? params.filename,
          isAttachment: query.download,
          cacheControl: isPublic ? 'public, max-age=604800, immutable' : 'private, no-cache',
          isHead,
          isSandboxed: !downloads.hasOwnHost(),
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

/** Whether every caller may have the file, so shared caches may keep it (files §4.3). */
const isOpenToAll = ({ options, field }: FoundFile, viewRule: string | null): boolean =>
  (options.public || [viewRule, field.viewRule ?? null, options.viewRule].every((rule) => rule === null)) &&
  !(options.requireAuth || options.protected || options.oneTimeToken || options.bindTokenIp || options.auditDownloads);

async function findBytes({ downloads }: RouteDeps, { key }: FoundFile): Promise<Bytes> {
  const stored = await downloads.storage.find(key);
  if (!stored) throw notFound('file');
  const { servedAs, mayRun } = await downloads.types.of(key, stored.sizeBytes);
  return { key, ...stored, type: servedAs, mayRun };
}

/** A file or a preview. A preview is an image, which a browser never runs. */
interface Bytes extends Thumb {
  readonly mayRun?: boolean;
}

interface DownloadRequest {
  /** What a browser calls the file that it saves. */
  readonly filename: string;
  readonly isAttachment: boolean;
  readonly cacheControl: string;
  readonly isHead: boolean;
  /** Whether the file has its own origin, also in a browser that ignores the rest of the policy. */
  readonly isSandboxed: boolean;
  header(name: string): string | undefined;
  open(key: FileKey, range: ByteRange | undefined): Promise<Readable | undefined>;
}

/** If a browser shows a file as a page all the same, the page can run nothing. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src 'self'";

function answer({ key, sizeBytes, type, mayRun }: Bytes, request: DownloadRequest): Reply {
  const etag = `"${createHash('sha256').update(key.segments.join('/')).digest('base64url').slice(0, 27)}"`;
  const disposition = request.isAttachment || mayRun ? 'attachment' : 'inline';
  const headers = {
    ETag: etag,
    'Cache-Control': request.cacheControl,
    'Accept-Ranges': 'bytes',
    'Content-Type': type,
    'Content-Disposition': dispositionOf(disposition, request.filename),
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': request.isSandboxed ? `${policy}; sandbox` : policy,
  };
  if (isKnownVersion(request.header('if-none-match'), etag))
    return { status: 304, headers: { ETag: etag, 'Cache-Control': request.cacheControl } };
  const range = request.isHead ? undefined : rangeOf(request, etag, sizeBytes);
  if (range === 'unsatisfiable')
    throw new AppError(416, 'range_not_satisfiable', `the file has ${sizeBytes} bytes`, {
      headers: { 'Content-Range': `bytes */${sizeBytes}` },
    });
  const openStream = async () => {
    const stream = await request.open(key, range);
    if (!stream) throw notFound('file');
    return stream;
  };
  if (!range) return { status: 200, headers: { ...headers, 'Content-Length': String(sizeBytes) }, openStream };
  const { start, end } = range;
  const partial = { 'Content-Length': String(end - start + 1), 'Content-Range': `bytes ${start}-${end}/${sizeBytes}` };
  return { status: 206, headers: { ...headers, ...partial }, openStream };
}

/** The requested range; undefined for the whole file, even when `If-Range` names another file (RFC 9110 §13.1.5). */
function rangeOf(
  { header }: DownloadRequest,
  etag: string,
  sizeBytes: number,
): ByteRange | 'unsatisfiable' | undefined {
  const condition = header('if-range');
  return condition === undefined || condition.trim() === etag ? readByteRange(header('range'), sizeBytes) : undefined;
}
