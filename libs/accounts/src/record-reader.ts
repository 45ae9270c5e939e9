import { type Collection, compileRecordReader, type RecordReader } from '@recordbus/schema';

const readers = new WeakMap<Collection, RecordReader>();

/** Returns a collection's body reader, one per schema version. It accepts no files. */
export function readerOf(collection: Collection): RecordReader {
  const reader = readers.get(collection) ?? compileRecordReader(collection, { takesFiles: false });
  readers.set(collection, reader);
  return reader;
}
