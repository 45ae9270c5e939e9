import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** Random bytes for 256 ids: fetching one id's bytes at a time takes several times as long as the rest. */
const pool = new Uint8Array(4096);
const bytesOfOne = 16;
let used = pool.length;
/** The last id's state. Within a millisecond ids count up from a random number (RFC 9562 §6.2, method 1). */
let msecs = 0;
let seq = 0;

/** Returns a new UUIDv7 (RFC 9562 §5.7). Ids sort by creation time; one process's ids always do. */
export function newId(): string {
  const random = takeRandom();
  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    // Leaves half of the range for counting.
    seq = new DataView(random.buffer, random.byteOffset).getUint32(6) >>> 1;
  } else {
    seq = (seq + 1) >>> 0;
    if (seq === 0) msecs += 1;
  }
  return v7({ random, msecs, seq });
}

function takeRandom(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytesOfOne;
  return pool.subarray(used - bytesOfOne, used);
}
