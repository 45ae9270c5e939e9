import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { malformed } from '../errors.ts';

/** Gives the SHA-256 of a request's query and body; reads what nobody has read of the body. */
export type TakeDigest = () => Promise<Buffer>;

/**
 * Listens to the body of a request while somebody else reads it, in whatever way, so that it is read once and never
 * held. Clients make up a new boundary for each multipart body, so that is left out: sent again, it is the same body.
 */
export function digestRequest(request: IncomingMessage, search: string): TakeDigest {
  const hash = createHash('sha256').update(search).update('\0');
  const boundary = boundaryOf(request.headers['content-type']);
  const withoutBoundary = boundary === undefined ? undefined : createCutter(Buffer.from(boundary));
  // Paused, so that listening alone does not make the body flow past its reader.
  request.pause();
  request.on('data', (chunk: Buffer) => {
    for (const bytes of withoutBoundary?.cut(chunk) ?? [chunk]) hash.update(bytes);
  });
  return async () => {
    if (!request.readableEnded) {
      request.resume();
      await finished(request, { writable: false }).catch(() => {
        throw malformed('the body ended before it was whole');
      });
    }
    return hash.update(withoutBoundary?.rest() ?? '').digest();
  };
}

/** RFC 2046 §5.1.1. */
const boundaryOf = (type = ''): string | undefined =>
  /^\s*multipart\//i.test(type)
    ? /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type)?.slice(1).find(Boolean)
    : undefined;

const placeholder = Buffer.from([0]);

/** Replaces every occurrence of some bytes in a stream of chunks. */
function createCutter(mark: Buffer) {
  let held: Buffer = Buffer.alloc(0);
  return {
    *cut(chunk: Buffer): Generator<Buffer> {
      let bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark)) {
        yield bytes.subarray(0, at);
        yield placeholder;
        bytes = bytes.subarray(at + mark.length);
      }
      // The mark may have begun at the end of this chunk.
      const whole = Math.max(bytes.length - mark.length + 1, 0);
      yield bytes.subarray(0, whole);
      held = Buffer.from(bytes.subarray(whole));
    },
    rest: () => held,
  };
}
