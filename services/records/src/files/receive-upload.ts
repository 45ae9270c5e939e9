import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { Query } from '@recordbus/database';
import { type Collection, type Field, type FileOptions, fileOptionsOf, matchesMimeTypes } from '@recordbus/schema';
import { type AppError, malformed, payloadTooLarge, validationFailed } from '@recordbus/shared/errors';
import { fileKey, type Storage } from '@recordbus/storage';
import { announceFile, renewAnnounced } from './announced-files.ts';
import { valueOfParts } from './part-value.ts';
import { sniffedBytes, sniffType } from './sniff-type.ts';
import { storedNameOf } from './stored-name.ts';

/** What came with a multipart body; its files are written and nobody's yet. */
export interface Upload {
  readonly recordId: string;
  /** The parts that are no files, as a JSON body would have them. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Names of the stored files by field, in their order. */
  readonly files: ReadonlyMap<string, readonly string[]>;
  readonly announced: readonly number[];
}

/** Where an upload goes. */
export interface UploadTarget {
  readonly query: Query;
  readonly storage: Storage;
  readonly collection: Collection;
  readonly recordId: string;
  readonly limitBytes: number;
}

const maxTextBytes = 1024 * 1024;
const limits = { fieldNameSize: 255, fieldSize: maxTextBytes, fields: 1000, files: 100, parts: 1100, headerPairs: 50 };

/** How often a long upload says that it goes on, in milliseconds. */
const renewalMs = 60_000;

/** The part that may carry the rest as JSON (contract §3). */
const jsonPart = '_json';

/**
 * Reads a multipart body part by part into the storage, at its pace, whatever its size. Throws 413 for one over the
 * limit, 400 for one that can't be read, 422 for a file that its field refuses; `announced` has then what was begun.
 */
export async function receiveUpload(
  request: IncomingMessage,
  target: UploadTarget,
  announced: number[],
): Promise<Upload> {
  const parts = createParts(target, announced);
  const busboy = openParser(request);
  const failure = Promise.withResolvers<never>();
  // Whoever waits for it learns of it; nobody may be waiting just then.
  failure.promise.catch(() => {});
  const stored: Promise<void>[] = [];
  const streams: Readable[] = [];
  const renewal = setInterval(() => renewAnnounced(target.query, announced).catch(() => {}), renewalMs);
  busboy.on('error', () => failure.reject(malformed('the body is not valid multipart/form-data')));
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    busboy.on(limit, () => failure.reject(malformed('the body has too many parts')));
  busboy.on('field', (name, text, isNameCut, isTextCut) => {
    if (isNameCut || isTextCut) failure.reject(payloadTooLarge(maxTextBytes));
    else parts.addText(name, text);
  });
  busboy.on('file', (name, stream, filename) => {
    // Its reader hears of an error by itself; one that comes after it has stopped must not end the process.
    stream.on('error', () => {});
    streams.push(stream);
    const storing = parts.addFile(name, stream, filename ?? '');
    storing.catch(failure.reject);
    stored.push(storing);
  });
  try {
    await feed(request, busboy, target.limitBytes, failure.promise);
    await Promise.race([Promise.all(stored), failure.promise]);
    return parts.take();
  } catch (error) {
    busboy.destroy();
    for (const stream of streams) stream.destroy(new Error('the upload was given up'));
    await Promise.allSettled(stored);
    throw error;
  } finally {
    clearInterval(renewal);
  }
}

function openParser(request: IncomingMessage): BusboyInstance {
  const type = request.headers['content-type'] ?? '';
  try {
    return new Busboy({ headers: { ...request.headers, 'content-type': type } as BusboyHeaders, limits });
  } catch {
    throw malformed('the body is not valid multipart/form-data');
  }
}

/** Hands the body to the parser, which takes no more than the storage does. */
async function feed(
  request: IncomingMessage,
  busboy: BusboyInstance,
  limitBytes: number,
  failed: Promise<never>,
): Promise<void> {
  const finished = once(busboy, 'finish');
  finished.catch(() => {});
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      length += chunk.length;
      if (length > limitBytes) throw payloadTooLarge(limitBytes);
      if (!busboy.write(chunk)) await Promise.race([once(busboy, 'drain'), failed]);
    }
  } catch (error) {
    if (request.errored) throw malformed('the body ended before it was whole');
    throw error;
  }
  busboy.end();
  await Promise.race([finished, failed]);
}

function createParts({ query, storage, collection, recordId }: UploadTarget, announced: number[]) {
  const fields = new Map(collection.fields.map((field) => [field.name, field]));
  const texts = new Map<string, string[]>();
  const files = new Map<string, string[]>();

  return {
    addText(name: string, text: string): void {
      texts.set(name, [...(texts.get(name) ?? []), text]);
    },

    async addFile(name: string, stream: Readable, filename: string): Promise<void> {
      const parts = stream.iterator();
      const head = await readHead(parts);
      // A form sends a part without name and bytes for a file that nobody chose.
      if (filename === '' && head.length === 0) return;
      const field = fields.get(name);
      if (field?.type !== 'file') throw refused(name, field ? 'takes no file' : `is not a field of ${collection.name}`);
      const options = fileOptionsOf(field);
      const names = files.get(name) ?? [];
      if (names.length > 0 && !options.multiple) throw refused(name, 'takes one file');
      const storedName = storedNameOf(filename);
      files.set(name, [...names, storedName]);
      refuseType(field, options, sniffType(head, storedName));
      const key = fileKey(collection.id, recordId, storedName);
      if (!key) throw new Error(`${storedName} is no name of a file`);
      announced.push(await announceFile(query, { collectionId: collection.id, recordId, name: storedName }));
      await storage.put(key, Readable.from(bounded(head, parts, field, options), { objectMode: false }));
    },

    take(): Upload {
      const body = new Map<string, unknown>(Object.entries(readJsonPart(texts.get(jsonPart))));
      for (const [name, values] of texts) {
        if (name === jsonPart) continue;
        if (body.has(name)) throw refused(name, `is in ${jsonPart} as well`);
        body.set(name, valueOfParts(fields.get(name), values));
      }
      return { recordId, body: Object.fromEntries(body), files, announced };
    },
  };
}

async function readHead(parts: AsyncIterator<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let length = 0; length < sniffedBytes; ) {
    const { done, value } = await parts.next();
    if (done) break;
    chunks.push(value);
    length += value.length;
  }
  return Buffer.concat(chunks);
}

/** The bytes of a file, up to what its field takes. */
async function* bounded(
  head: Buffer,
  rest: AsyncIterator<Buffer>,
  field: Field,
  { maxSize }: FileOptions,
): AsyncGenerator<Buffer> {
  let length = 0;
  for (let next: IteratorResult<Buffer> = { value: head }; !next.done; next = await rest.next()) {
    length += next.value.length;
    if (maxSize > 0 && length > maxSize) throw refused(field.name, `may have at most ${maxSize} bytes`);
    if (next.value.length > 0) yield next.value;
  }
}

function refuseType(field: Field, { mimeTypes }: FileOptions, type: string): void {
  if (!matchesMimeTypes(type, mimeTypes))
    throw refused(field.name, `must be of the type ${mimeTypes.join(' or ')}, not ${type}`);
}

function readJsonPart(texts: readonly string[] | undefined): object {
  if (!texts) return {};
  let value: unknown;
  try {
    value = JSON.parse(texts.at(-1) ?? '');
  } catch {
    throw malformed(`the part ${jsonPart} is not valid JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed(`the part ${jsonPart} must be a JSON object`);
  return value;
}

const refused = (name: string, message: string): AppError => validationFailed(Object.fromEntries([[name, message]]));
