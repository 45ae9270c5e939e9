import { type CollectedBytes, collectBytes } from '@recordbus/http';
import { Refusal } from './refusal.ts';

/** How many body bytes this process keeps in memory at once. */
const maxHeldBytes = 128 * 1024 * 1024;

let heldBytes = 0;

/** A body's bytes in memory. Dispose it when the body is no longer needed. */
export interface HeldBytes extends Disposable {
  /** Counts bytes. Throws 413 above the body's limit, and 503 when too many are in memory. */
  count(bytes: number): void;
}

/** Counts one body's bytes. */
export function holdBytes(limitBytes: number): HeldBytes {
  let own = 0;
  return {
    count(bytes) {
      if (own + bytes > limitBytes) throw new Refusal(413, 'Request entity too large.');
      if (heldBytes + bytes > maxHeldBytes) throw new Refusal(503, 'The server is busy. Try again later.');
      own += bytes;
      heldBytes += bytes;
    },
    [Symbol.dispose]() {
      heldBytes -= own;
      own = 0;
    },
  };
}

/** Reads a body into memory. */
export async function readBody(body: AsyncIterable<Buffer>, limitBytes: number): Promise<Buffer> {
  using held = holdBytes(limitBytes);
  const collected: CollectedBytes = collectBytes();
  for await (const chunk of body) {
    held.count(chunk.length);
    collected.add(chunk);
  }
  return collected.take();
}
