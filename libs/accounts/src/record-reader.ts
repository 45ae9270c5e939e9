import { type Collection, compileRecordReader, type RecordReader } from '@recordbus/schema';

const readers = new WeakMap<Collection, RecordReader>();

/** The reader of what clients write to a collection, made once per schema version. Nothing is uploaded here. */
export function readerOf(collection: Collection): RecordReader {
  const reader = readers.get(collection) ?? compileRecordReader(collection, { takesFiles: false });
  readers.set(collection, reader);
  return reader;
}
