/** The maximum bytes of a body that wait to be freed. The garbage collector frees the rest. */
const maxBytes = 4 * 1024 * 1024;

/** The chunks of a body that were read. */
export interface SpentChunks {
  add(chunk: Buffer): void;
  /** Frees their memory. Nothing may read the chunks, or parts of them, afterwards. */
  free(): void;
}

/**
 * Collects the chunks of a short body to free them together. Memory that waits for the garbage collector makes it run:
 * uploads of 200 kB spent half of their processor time in it.
 */
export function collectSpent(): SpentChunks {
  let chunks: Buffer[] = [];
  let length = 0;
  return {
    add(chunk) {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      else chunks = [];
    },
    free() {
      // Short buffers share memory with others.
      for (const { buffer, byteLength } of chunks)
        if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
    },
  };
}
