import type { Readable } from 'node:stream';
import type { FileKey } from './file-key.ts';

/** Bytes from `start` to `end`, both included and counted from 0. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

interface StoredFile {
  readonly sizeBytes: number;
}

/** A file's preview in the store. */
export interface StoredPreview {
  readonly key: FileKey;
  readonly sizeBytes: number;
}

/** A file's bytes, in order: all of a short one, or from a stream or a generator. */
export type Bytes = readonly Buffer[] | AsyncIterable<Buffer | string>;

/** Uploaded files' bytes, under keys that are written once: a changed file gets another name. */
export interface Storage {
  /**
   * Stores bytes. Once it resolves they survive a crash; when it rejects there is no such file. `announced` resolves
   * when the file is listed for removal unless a commit keeps it. Only then does the file get its name. A crash may
   * leave a part.
   */
  put(key: FileKey, bytes: Bytes, options?: { readonly announced?: Promise<unknown> }): Promise<StoredFile>;
  /** Returns a file's size; undefined when it does not exist. */
  find(key: FileKey): Promise<StoredFile | undefined>;
  /** Opens a file, or a range; undefined when it does not exist. The caller reads or destroys the stream. */
  open(key: FileKey, range?: ByteRange): Promise<Readable | undefined>;
  /** Deletes a file and its previews; a missing file is not an error, so that a deletion can be repeated. */
  delete(key: FileKey): Promise<void>;
  /** Deletes all a record's files except those with the names to keep. */
  deleteRecord(collectionId: string, recordId: string, kept?: ReadonlySet<string>): Promise<void>;
  /** Lists the files, without previews, of a collection's records whose ids have this start (`idsStartOf`). */
  list(collectionId: string, idsStart: string): AsyncIterable<FileKey>;
  /** Lists every preview. It reads all files' names, so call it rarely. */
  listPreviews(): AsyncIterable<StoredPreview>;
  /** Deletes all a collection's files. */
  deleteCollection(collectionId: string): Promise<void>;
}
