import { createHash } from 'node:crypto';
import { AppError, conflict, malformed, malformedParameter, notFound, validationFailed } from '@recordbus/errors';
import { created, ok, type Route, route } from '@recordbus/http';
import { readParameters } from '@recordbus/http/form';
import type { Storage } from '@recordbus/storage';
import { z } from 'zod';
import { type FoundFile, ruleContextOf } from '../files/find-file.ts';
import { originalNameOf } from '../files/original-name.ts';
import type { RouteDeps } from './route-deps.ts';

const params = z.object({ collection: z.string(), id: z.string(), filename: z.string() });

/** Higher than any file. The storage has the room that it has. */
const bodyLimitBytes = 2 ** 41;

const storedFile = z.object({
  name: z.string(),
  size: z.int().describe('bytes'),
  sha256: z.string().describe('in hex'),
});

type Body = AsyncIterable<Buffer>;

/** `PUT /api/v1/files/<col>/<id>/<filename>`: the bytes of a file that a record names already (files §3.9). */
export const putFileRoute = (deps: RouteDeps): Route =>
  route({
    method: 'PUT',
    path: '/api/v1/files/:collection/:id/:filename',
    access: 'admin',
    scope: 'admin',
    action: 'update',
    summary: 'Store the bytes of a file that an import has named',
    params,
    streamedBody: { 'application/octet-stream': { type: 'string', format: 'binary' } },
    bodyLimitBytes,
    requestHeaders: {
      'Content-Digest': 'sha-256=:<base64>:, which the bytes must have',
      'Content-Disposition': "attachment with the file's original name, as a download has it",
    },
    answers: {
      200: storedFile,
      201: storedFile,
      400: 'the digest is not a SHA-256 in base64, or the body ended early',
      404: 'no record names such a file',
      405: 'a view collection is read-only',
      409: 'the file is stored, with other bytes',
      422: 'the bytes have another digest',
    },
    handler: async ({ params, stream, context, queryText, header }) => {
      const { downloads, collections, schema } = deps;
      const { principal } = context;
      const expected = readDigest(header('content-digest'));
      const original = readOriginal(header('content-disposition'));
      const file = { recordId: params.id, filename: params.filename };
      return collections.serve({ collection: params.collection, action: 'update', principal }, async (collection) => {
        const ruleContext = ruleContextOf(principal, schema, { query: queryText, header });
        const locate = (): Promise<FoundFile> => downloads.locate(collection, file, ruleContext);
        const { key } = await locate();
        const body: Body = stream ? stream.iterator({ destroyOnReturn: false }) : empty();
        const receiving = receive(body, expected);
        const stored = await downloads.storage.find(key);
        if (stored) {
          const same = await compare(downloads.storage, { key }, receiving, params.filename);
          await downloads.describe(key, { original, size: same.size });
          return ok(same);
        }
        const { sizeBytes } = await downloads.storage.put(key, receiving.bytes);
        await downloads.describe(key, { original, size: sizeBytes });
        // The record may have lost the file meanwhile.
        await locate().catch(async (error: unknown) => {
          await downloads.forget(key);
          throw error;
        });
        return created({ name: params.filename, size: sizeBytes, sha256: receiving.digest() });
      });
    },
  });

async function* empty(): Body {}

function readOriginal(header: string | undefined): string | null {
  const { parameters } = readParameters(header ?? '');
  return originalNameOf(parameters.get('filename*') ?? parameters.get('filename') ?? '');
}

function readDigest(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const base64 = /^sha-256=:([A-Za-z0-9+/]{43}=):$/.exec(header)?.[1];
  if (base64 === undefined) throw malformedParameter('Content-Digest', 'must be sha-256=:<base64>:');
  return Buffer.from(base64, 'base64').toString('hex');
}

interface Receiving {
  readonly bytes: Body;
  /** The digest in hex, at the end. */
  digest(): string;
}

/** Passes a body through. Throws at its end when it has another digest, so that it is not stored. */
function receive(body: Body, expected: string | undefined): Receiving {
  const hash = createHash('sha256');
  let found = '';
  async function* bytes(): Body {
    try {
      for await (const chunk of body) {
        hash.update(chunk);
        yield chunk;
      }
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw malformed('the body ended before it was whole');
    }
    found = hash.digest('hex');
    if (expected !== undefined && found !== expected) throw validationFailed({ body: `has the SHA-256 ${found}` });
  }
  return { bytes: bytes(), digest: () => found };
}

/** Compares a repeated upload with what is stored. */
async function compare(storage: Storage, { key }: Pick<FoundFile, 'key'>, { bytes, digest }: Receiving, name: string) {
  let size = 0;
  for await (const chunk of bytes) size += chunk.length;
  const opened = await storage.open(key);
  if (!opened) throw notFound('file');
  const hash = createHash('sha256');
  for await (const chunk of opened) hash.update(chunk);
  if (hash.digest('hex') !== digest()) throw conflict('file_exists', 'the file is stored, with other bytes');
  return { name, size, sha256: digest() };
}
