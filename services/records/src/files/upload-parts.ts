import type { Readable } from 'node:stream';
import { type AppError, malformed, validationFailed } from '@recordbus/errors';
import { createJsonBudget } from '@recordbus/http';
import {
  type Collection,
  type Field,
  type FileOptions,
  fieldTypeOf,
  fileOptionsOf,
  listMaxOf,
} from '@recordbus/schema';
import { matchesMimeTypes, sniffContent, sniffedBytes } from '@recordbus/schema/content-types';
import { bytesAtOnce, fileKey, type Storage } from '@recordbus/storage';
import type { AnnouncedFile, AnnouncedFiles } from './announced-files.ts';
import { originalNameOf } from './original-name.ts';
import { type Beginning, readBeginning } from './read-beginning.ts';
import { storedNameOf } from './stored-name.ts';

/** What a multipart body held. Its files are stored, and no record has them yet. */
export interface Upload {
  /** The collection whose files they are in the storage. */
  readonly collectionId: string;
  readonly recordId: string;
  /** The parts that are not files, as a JSON body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Stored names by field, in their order. */
  readonly files: ReadonlyMap<string, readonly string[]>;
  /** The announcements of its files. The write keeps them. */
  readonly announced: readonly AnnouncedFile[];
}

/** The record that an upload is for. */
export interface UploadTarget {
  readonly storage: Storage;
  readonly collection: Collection;
  readonly recordId: string;
  readonly announced: AnnouncedFiles;
  /** Waits until a deleted record's files with this id are removed; left out for a new id. */
  awaitRemoval?(): Promise<void>;
}

/** The parts in one record's form. */
export interface UploadParts {
  addText(name: string, text: string): void;
  /** Resolves when the file is stored. */
  addFile(name: string, stream: Readable, filename: string): Promise<void>;
  take(): Upload;
}

/** The part that may have the other members as JSON (files §3.3). */
const jsonPart = '_json';

/**
 * Creates a collector for parts. It keeps texts in memory, and announces and stores files at the storage's pace. `take`
 * returns the upload. Throws 422 for a file that its field refuses, 400 for a `_json` part that is not an object, for a
 * second text for a single value, and for JSON beyond one body's limits (files §3.5).
 */
export function createUploadParts({
  storage,
  collection,
  recordId,
  announced,
  awaitRemoval,
}: UploadTarget): UploadParts {
  const fields = new Map(collection.fields.map((field) => [field.name, field]));
  const texts = new Map<string, string[]>();
  /** The files in their parts' order. A short file is read completely before it gets a name, a long one is not. */
  const files: { readonly field: string; name?: string }[] = [];
  const jsonBudget = createJsonBudget();

  function formTextOf(name: string) {
    const field = fields.get(name);
    return field && fieldTypeOf(field).formText(field);
  }

  function namesByField(): Map<string, string[]> {
    const names = new Map<string, string[]>();
    for (const { field, name } of files) if (name !== undefined) names.set(field, [...(names.get(field) ?? []), name]);
    return names;
  }

  async function announce(name: string): Promise<number> {
    const id = await announced.announce({ collectionId: collection.id, recordId, name });
    // A removal leaves announced files. A removal that began before this announcement must end before the file gets its
    // name.
    await awaitRemoval?.();
    return id;
  }

  return {
    addText(name: string, text: string): void {
      const formText = formTextOf(name);
      if (texts.has(name) && (name === jsonPart || formText?.takesSeveral === false)) throw repeated(name);
      const isJson = name === jsonPart || formText?.isJson(text);
      const excess = isJson ? jsonBudget.take(Buffer.from(text)) : undefined;
      if (excess) throw malformed(`the form's JSON, up to the part ${name}, ${excess}`);
      texts.set(name, [...(texts.get(name) ?? []), text]);
    },

    async addFile(name: string, stream: Readable, filename: string): Promise<void> {
      const place: (typeof files)[number] = { field: name };
      files.push(place);
      // A short file is read completely before it is stored, a long one is stored while it arrives.
      const beginning = await readBeginning(stream, bytesAtOnce);
      // A browser sends a part without name and bytes for an empty file input.
      if (filename === '' && beginning.length === 0) return;
      const field = fields.get(name);
      if (field?.type !== 'file') throw refused(name, field ? 'takes no file' : `is not a field of ${collection.name}`);
      const options = fileOptionsOf(field);
      if (!options.multiple && namesByField().has(name)) throw refused(name, 'takes one file');
      const max = listMaxOf(field, 'files');
      if (max.isExceededBy((namesByField().get(name)?.length ?? 0) + 1)) throw refused(name, max.refusal.message);
      const storedName = storedNameOf(filename);
      place.name = storedName;
      const { types } = sniffContent(headOf(beginning), storedName);
      refuseType(field, options, types);
      refuseSize(field, options, beginning.length);
      const key = fileKey(collection.id, recordId, storedName);
      if (!key) throw new Error(`${storedName} is not a valid file name`);
      const announcement = announce(storedName);
      try {
        const bytes = beginning.isWhole ? beginning.chunks : bounded(beginning, stream.iterator(), field, options);
        const { sizeBytes } = await storage.put(key, bytes, { announced: announcement });
        announced.describe(await announcement, {
          original: originalNameOf(filename),
          size: sizeBytes,
          type: types[0],
        });
      } finally {
        // The caller drops the announced files.
        await Promise.allSettled([announcement]);
      }
    },

    take(): Upload {
      const body = new Map<string, unknown>(Object.entries(readJsonPart(texts.get(jsonPart))));
      for (const [name, values] of texts) {
        if (name === jsonPart) continue;
        if (body.has(name)) throw refused(name, `is also in ${jsonPart}`);
        const formText = formTextOf(name);
        // The write refuses a field that the collection lacks.
        body.set(name, formText ? formText.read(values) : values.at(-1));
      }
      return {
        collectionId: collection.id,
        recordId,
        body: Object.fromEntries(body),
        files: namesByField(),
        announced: announced.files,
      };
    },
  };
}

/** A file's first bytes, which tell its type. */
const headOf = ({ chunks: [first, ...more] }: Beginning): Buffer =>
  first && (first.length >= sniffedBytes || more.length === 0)
    ? first
    : Buffer.concat([...(first ? [first] : []), ...more]);

/** A long file's bytes. Throws 422 beyond its field's `maxSize`. */
async function* bounded(
  beginning: Beginning,
  rest: AsyncIterable<Buffer>,
  field: Field,
  options: FileOptions,
): AsyncGenerator<Buffer> {
  yield* beginning.chunks;
  let { length } = beginning;
  for await (const chunk of rest) {
    length += chunk.length;
    refuseSize(field, options, length);
    yield chunk;
  }
}

function refuseSize({ name }: Field, { maxSize }: FileOptions, length: number): void {
  if (maxSize > 0 && length > maxSize) throw refused(name, `may have at most ${maxSize} bytes`);
}

function refuseType(field: Field, { mimeTypes }: FileOptions, types: readonly string[]): void {
  if (!matchesMimeTypes(types, mimeTypes))
    throw refused(field.name, `must have the type ${mimeTypes.join(' or ')}, not ${types[0]}`);
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

function repeated(name: string): AppError {
  const message = 'is in the form twice, and takes one value';
  return malformed(`the part ${name} ${message}`, { [name]: message });
}

const refused = (name: string, message: string): AppError => validationFailed(Object.fromEntries([[name, message]]));
