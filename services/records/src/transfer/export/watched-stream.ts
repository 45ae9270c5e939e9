import { Readable } from 'node:stream';
import { AppError } from '@recordbus/shared/errors';
import { partLength } from './export-limits.ts';

interface StreamLimits {
  /** The longest time between two parts that the client takes, in milliseconds. */
  readonly stalledMs: number;
  /** The longest time from the first part to the last, in milliseconds. */
  readonly totalMs: number;
}

/**
 * Returns the texts as a stream of bytes. It fails, and its answer breaks off, if nothing is read for too long or the
 * whole stream takes too long.
 */
export function watchedStream(texts: AsyncGenerator<string, void>, { stalledMs, totalMs }: StreamLimits): Readable {
  const cut = (why: string) => stream.destroy(new AppError(503, 'unavailable', why));
  async function* parts(): AsyncGenerator<string> {
    for await (const text of texts) {
      const timer = setTimeout(cut, stalledMs, `an export was cut: its client read nothing for ${stalledMs} ms`);
      try {
        yield text;
      } finally {
        clearTimeout(timer);
      }
    }
  }
  const stream = Readable.from(parts(), { objectMode: false, highWaterMark: partLength });
  const timer = setTimeout(cut, totalMs, `an export was cut: it took more than ${totalMs} ms`);
  stream.once('close', () => clearTimeout(timer));
  return stream;
}
