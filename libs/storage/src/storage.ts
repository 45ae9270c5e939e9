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

/** The bytes of uploaded files, under keys that are written once: a changed file gets another name. */
export interface Storage {
  /** Keeps what the stream gives; once it resolves the bytes survive a crash, when it rejects there is no such file. */
  put(key: FileKey, bytes: Readable): Promise<StoredFile>;
  /** What is known of a file without reading it; undefined when there is none. */
  find(key: FileKey): Promise<StoredFile | undefined>;
  /** The bytes of a file, or a part of them; undefined when there is none. Whoever opens it reads or destroys it. */
  open(key: FileKey, range?: ByteRange): Promise<Readable | undefined>;
  /** Removes a file with its previews; one that is not there is no error, so that a removal can be repeated. */
  delete(key: FileKey): Promise<void>;
  /** Removes every file of a record. */
  deleteRecord(collectionId: string, recordId: string): Promise<void>;
  /** Removes every file of a collection. */
  deleteCollection(collectionId: string): Promise<void>;
}
