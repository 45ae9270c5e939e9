import { Readable } from 'node:stream';
import type { Query } from '@recordbus/database';
import { type Collection, type Field, type FileOptions, fileOptionsOf, matchesMimeTypes } from '@recordbus/schema';
import { type AppError, malformed, validationFailed } from '@recordbus/shared/errors';
import { fileKey, type Storage } from '@recordbus/storage';
import { announceFile } from './announced-files.ts';
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
}

/** The parts of one multipart body. */
interface UploadParts {
  addText(name: string, text: string): void;
  /** Resolves when the file is stored. */
  addFile(name: string, stream: Readable, filename: string): Promise<void>;
  take(): Upload;
}

/** The part that may carry the rest as JSON (contract §3). */
const jsonPart = '_json';

/**
 * Takes the parts as they come: what is no file is kept, files go into the storage, each announced before it is written,
 * at the pace of the storage. `take` gives all of it. Throws 422 for a file that its field refuses, 400 for a `_json` part
 * that is no object.
 */
export function createUploadParts(
  { query, storage, collection, recordId }: UploadTarget,
  announced: number[],
): UploadParts {
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
