import { Readable } from 'node:stream';
import { AppError } from '@recordbus/errors';
import { checkMs, graceMs, minBytesPerMs, partLength } from './export-limits.ts';

interface StreamLimits {
  /** The longest time between two parts that the client takes, in milliseconds. */
  readonly stalledMs: number;
  /** The longest time from the first part to the last, in milliseconds. */
  readonly totalMs: number;
  /** Whether others wait for what the stream holds. */
  readonly isWanted: () => boolean;
}

/**
 * Returns the texts as a byte stream. It fails, and its answer breaks off, if nothing is read for too long, if the
 * whole stream takes too long, or if its client reads slowly while others wait (export §4.3).
 */
export function watchedStream(
  texts: AsyncGenerator<string, void>,
  { stalledMs, totalMs, isWanted }: StreamLimits,
): Readable {
  const pace = createPace();
  const cut = (why: string) => stream.destroy(new AppError(503, 'unavailable', why));

  /** Looks again and again while the client does not take a part. */
  function watch(): () => void {
    const look = () => {
      if (pace.stalledMs() >= stalledMs) cut(`an export was cut: its client read nothing for ${stalledMs} ms`);
      else if (pace.isSlow() && isWanted()) cut('an export was cut: its client reads slowly, and others wait');
      else timer = setTimeout(look, Math.min(checkMs, stalledMs));
    };
    let timer = setTimeout(look, Math.min(checkMs, stalledMs));
    return () => clearTimeout(timer);
  }

  async function* parts(): AsyncGenerator<string> {
    for await (const text of texts) {
      pace.offer();
      const unwatch = watch();
      try {
        yield text;
        pace.take(text.length);
      } finally {
        unwatch();
      }
    }
  }
  const stream = Readable.from(parts(), { objectMode: false, highWaterMark: partLength });
  const timer = setTimeout(cut, totalMs, `an export was cut: it took more than ${totalMs} ms`);
  stream.once('close', () => clearTimeout(timer));
  return stream;
}

/** Measures how fast a client takes parts. The time in which the parts are read does not count. */
function createPace() {
  let waitedMs = 0;
  let taken = 0;
  let offeredAtMs = performance.now();
  const stalledMs = () => performance.now() - offeredAtMs;
  return {
    offer() {
      offeredAtMs = performance.now();
    },
    take(length: number) {
      waitedMs += stalledMs();
      taken += length;
    },
    stalledMs,
    isSlow() {
      const allMs = waitedMs + stalledMs();
      return allMs > graceMs && taken < allMs * minBytesPerMs;
    },
  };
}
