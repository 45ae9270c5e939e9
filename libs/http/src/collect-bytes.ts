/** The bytes of a body that is kept in memory. */
export interface CollectedBytes {
  add(chunk: Buffer): void;
  /** Returns all bytes. */
  take(): Buffer;
}

/** A chunk takes some 200 bytes of memory in addition to its own, and a client may send chunks of one byte. */
const maxChunks = 256;

/** Collects chunks, at little more than their own size. */
export function collectBytes(): CollectedBytes {
  const blocks: Buffer[] = [];
  let chunks: Buffer[] = [];
  return {
    add(chunk) {
      chunks.push(chunk);
      if (chunks.length < maxChunks) return;
      blocks.push(Buffer.concat(chunks));
      chunks = [];
    },
    take() {
      const [only, ...others] = [...blocks, ...chunks];
      return only && others.length === 0 ? only : Buffer.concat([...blocks, ...chunks]);
    },
  };
}
