import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';

/** A stream that passes bytes through, and their SHA-256. */
export interface Hashing {
  readonly stream: Transform;
  /** Returns the hash in hex. Call it once, at the stream's end. */
  digest(): string;
}

/** Creates a stream that passes bytes through and hashes them. */
export function createHashing(): Hashing {
  const hash = createHash('sha256');
  const stream = new Transform({
    transform(chunk, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  return { stream, digest: () => hash.digest('hex') };
}
