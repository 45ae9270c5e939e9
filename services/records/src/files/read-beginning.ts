import type { Readable } from 'node:stream';
import { guarded } from '@recordbus/request/request-scope';

/** A stream's first bytes. */
export interface Beginning {
  readonly chunks: readonly Buffer[];
  readonly length: number;
  /** Whether the stream has no more. Otherwise it is paused. */
  readonly isWhole: boolean;
}

/**
 * Reads a stream until it has given so many bytes, or all. It listens to events, since an iterator makes several
 * objects and an event loop turn for each chunk. Throws the stream's error.
 */
export function readBeginning(stream: Readable, bytes: number): Promise<Beginning> {
  const { promise, resolve, reject } = Promise.withResolvers<Beginning>();
  const chunks: Buffer[] = [];
  let length = 0;
  const onData = guarded((chunk: Buffer): void => {
    chunks.push(chunk);
    length += chunk.length;
    if (length < bytes) return;
    stream.pause();
    end(false);
  });
  const onEnd = (): void => end(true);
  function end(isWhole: boolean): void {
    stream.off('data', onData).off('end', onEnd).off('error', reject);
    resolve({ chunks, length, isWhole });
  }
  stream.on('data', onData).on('end', onEnd).on('error', reject);
  return promise;
}
