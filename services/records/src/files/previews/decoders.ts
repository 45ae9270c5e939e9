import { AppError, unavailable } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import { createByteBudget } from './byte-budget.ts';
import { DecoderEnded, type DecoderProcess, startDecoder, UndecodableImage } from './decoder-process.ts';
import type { PreviewOrder } from './protocol.ts';

/** What became of an image: its preview, or why it has none. */
export type Decoded = Uint8Array | 'broken' | 'too many pixels' | 'too large';

/** Makes previews in separate processes (files §5.5). */
export interface Decoders {
  /** Starts a process unless there is one, so that the first preview finds it. */
  warm(): Promise<void>;
  /**
   * Makes a preview. Throws 422 `picture_too_large` for an image that ends its process, and 503 if its bytes are not free
   * in time.
   */
  make(image: () => AsyncIterable<Uint8Array>, order: PreviewOrder): Promise<Decoded>;
  /** The bytes that the running previews take decoded. */
  readonly decodedBytes: number;
  stop(): Promise<void>;
}

interface DecodersOptions {
  readonly log: Logger;
  /** The bytes that all running previews together may take decoded. */
  readonly budgetBytes: number;
  /** Tests may have another process. */
  readonly start?: () => DecoderProcess;
  readonly timeoutMs?: number;
}

/** How many pixels an image may have (files §5.3). */
const maxPixels = 50_000_000;

/** How long an image may decode, in milliseconds. Then its process is ended. */
const usualTimeoutMs = 10_000;

/** How long a preview waits for its bytes, in milliseconds. */
const maxWaitMs = 20_000;

/** A process that got and decoded more than this is ended afterwards: it may keep the memory. */
const heavyBytes = 32 * 2 ** 20;

/** An idle process beyond the first is ended after this time, in milliseconds. */
const idleMs = 10_000;

/** Creates the decoders. */
export function createDecoders({
  log,
  budgetBytes,
  start = startDecoder,
  timeoutMs = usualTimeoutMs,
}: DecodersOptions): Decoders {
  const budget = createByteBudget(budgetBytes, maxWaitMs);
  const all = new Set<DecoderProcess>();
  const idle: DecoderProcess[] = [];
  let isStopped = false;

  function launch(): DecoderProcess {
    const decoder = start();
    all.add(decoder);
    void decoder.ended.then(() => {
      all.delete(decoder);
      const place = idle.indexOf(decoder);
      if (place >= 0) idle.splice(place, 1);
    });
    return decoder;
  }

  const takeNew = (): DecoderProcess => {
    if (isStopped) throw unavailable('the service is stopping');
    return launch();
  };

  const take = (): DecoderProcess => {
    let decoder = idle.pop();
    while (decoder?.hasEnded) decoder = idle.pop();
    return decoder && !isStopped ? decoder : takeNew();
  };

  function release(decoder: DecoderProcess, usedBytes: number): void {
    if (decoder.hasEnded) return;
    if (isStopped || usedBytes > heavyBytes) decoder.end();
    else idle.push(decoder);
    if (idle.length > 1) setTimeout(endSpare, idleMs).unref();
    // The next preview finds a process that has loaded its library.
    if (!isStopped && idle.length === 0) idle.push(launch());
  }

  function endSpare(): void {
    if (idle.length > 1) idle.shift()?.end();
  }

  async function decodeOn(
    decoder: DecoderProcess,
    image: AsyncIterable<Uint8Array>,
    order: PreviewOrder,
    noteUse: (bytes: number) => void,
  ): Promise<Decoded> {
    await decoder.ready;
    const { pixels, decodedBytes } = await decoder.measure(image, order, timeoutMs);
    if (pixels > maxPixels) return 'too many pixels';
    if (decodedBytes > budget.maxBytes) return 'too large';
    const free = await budget.take(decodedBytes);
    noteUse(decodedBytes);
    try {
      return await decoder.decode(timeoutMs);
    } finally {
      // The bytes that an ended process had are free when it is gone.
      if (decoder.hasEnded) void decoder.ended.then(free);
      else free();
    }
  }

  async function attempt(
    decoder: DecoderProcess,
    image: () => AsyncIterable<Uint8Array>,
    order: PreviewOrder,
  ): Promise<Decoded> {
    let usedBytes = 0;
    async function* counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        usedBytes += chunk.length;
        yield chunk;
      }
    }
    try {
      return await decodeOn(decoder, counted(image()), order, (bytes) => {
        usedBytes += bytes;
      });
    } catch (error) {
      if (error instanceof UndecodableImage) return 'broken';
      // Its bytes may be half passed on.
      if (!(error instanceof DecoderEnded)) decoder.end();
      throw error;
    } finally {
      release(decoder, usedBytes);
    }
  }

  /** Returns what the process did if another one may do the work. */
  function noteEnded(error: unknown): 'starting' | 'measuring' {
    if (!(error instanceof DecoderEnded)) throw error;
    log.warn({ reason: error.message }, 'a preview was not created');
    if (error.stage === 'decoding') throw tooMuch();
    return error.stage;
  }

  return {
    async warm() {
      if (isStopped || all.size > 0) return;
      const decoder = launch();
      idle.push(decoder);
      await decoder.ready.catch((err) => log.warn({ err }, 'cannot start the process that creates previews'));
    },
    async make(image, order) {
      // A process may have been killed while it was idle, and others with it. If a new one ends too, the image is the reason.
      const first = await attempt(take(), image, order).catch(noteEnded);
      if (first !== 'starting' && first !== 'measuring') return first;
      const second = await attempt(takeNew(), image, order).catch(noteEnded);
      if (second === 'starting') throw unavailable('previews cannot be created now');
      if (second === 'measuring') throw tooMuch();
      return second;
    },
    get decodedBytes() {
      return budget.usedBytes;
    },
    async stop() {
      isStopped = true;
      for (const decoder of all) decoder.end();
      await Promise.all([...all].map(({ ended }) => ended));
    },
  };
}

const tooMuch = () => pictureTooLarge('takes too much memory or time to decode');

/** 422: the picture is too large for a preview. Without `thumb`, the original is served. */
export const pictureTooLarge = (why: string): AppError =>
  new AppError(422, 'picture_too_large', `the picture ${why}; download it without thumb`);
