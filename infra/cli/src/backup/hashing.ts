import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';

/** Bytes on their way, and their SHA-256 once they are through. */
export interface Hashing {
  readonly stream: Transform;
  /** In hex; to be asked once, at the end. */
  digest(): string;
}

/** Makes a stream that lets bytes through and hashes them. */
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
