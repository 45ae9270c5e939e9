import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { malformed, payloadTooLarge } from '@recordbus/errors';
import { guarded } from '@recordbus/request/request-scope';

/** The SHA-256 over a request's query and body. */
export interface RequestDigest {
  /** Whether the handler streams the body, so that the digest is known only after it. */
  readonly isLate: boolean;
  /** Returns the digest; reads the unread rest of the body. Throws 413 when the body is over the limit. */
  take(): Promise<Buffer>;
}

interface DigestOptions {
  readonly limitBytes: number;
  /** Whether the handler streams the body, whatever its type. */
  readonly isStreamed: boolean;
}

/**
 * Hashes a request's body while another reader consumes it, so that it is read once and never buffered. Clients choose
 * a new boundary for each multipart body, so the digest excludes the boundary: a repetition has the same digest.
 */
export function digestRequest(
  request: IncomingMessage,
  search: string,
  { limitBytes, isStreamed }: DigestOptions,
): RequestDigest {
  const hash = createHash('sha256').update(search).update('\0');
  const boundary = boundaryOf(request.headers['content-type']);
  const withoutBoundary = boundary === undefined ? undefined : createReplacer(Buffer.from(boundary));
  // Paused, since a `data` listener alone would make the body flow before its reader is ready.
  request.pause();
  let length = 0;
  const onData = guarded((chunk: Buffer) => {
    length += chunk.length;
    for (const bytes of withoutBoundary?.replaceIn(chunk) ?? [chunk]) hash.update(bytes);
  });
  request.on('data', onData);
  let taken: Promise<Buffer> | undefined;
  async function finish(): Promise<Buffer> {
    if (!request.readableEnded) await readRest();
    return hash.update(withoutBoundary?.rest() ?? '').digest();
  }
  async function readRest(): Promise<void> {
    try {
      for await (const _ of request.iterator({ destroyOnReturn: false }))
        if (length > limitBytes) throw payloadTooLarge(limitBytes);
    } catch (error) {
      if (request.errored) throw malformed('the body ended before it was whole');
      throw error;
    }
  }
  return {
    isLate: isStreamed || boundary !== undefined,
    take() {
      taken ??= finish();
      return taken;
    },
  };
}

/** RFC 2046 §5.1.1. */
const boundaryOf = (type = ''): string | undefined =>
  /^\s*multipart\//i.test(type)
    ? /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type)?.slice(1).find(Boolean)
    : undefined;

const placeholder = Buffer.from([0]);

/** Replaces every occurrence of some bytes in a chunk stream. */
function createReplacer(mark: Buffer) {
  let held: Buffer = Buffer.alloc(0);
  return {
    *replaceIn(chunk: Buffer): Generator<Buffer> {
      let bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark)) {
        yield bytes.subarray(0, at);
        yield placeholder;
        bytes = bytes.subarray(at + mark.length);
      }
      // The mark may begin at the end of this chunk.
      const whole = Math.max(bytes.length - mark.length + 1, 0);
      yield bytes.subarray(0, whole);
      held = Buffer.from(bytes.subarray(whole));
    },
    rest: () => held,
  };
}
