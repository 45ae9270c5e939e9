import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FromDecoder, PreviewOrder, ToDecoder } from './protocol.ts';

type Stage = 'starting' | 'measuring' | 'decoding';

/** A decoder's process has ended. */
export class DecoderEnded extends Error {
  /**
   * What it did: it loaded its library, measured an image or was idle, or decoded an image, which is then the likely
   * reason.
   */
  readonly stage: Stage;
  constructor(reason: string, stage: Stage) {
    super(`the process that decodes images ended: ${reason}`);
    this.stage = stage;
  }
}

/** This is not an image, or it is broken. */
export class UndecodableImage extends Error {}

/** A process that decodes one image at a time. Its functions throw DecoderEnded, and UndecodableImage for the image. */
export interface DecoderProcess {
  readonly pid: number | undefined;
  /** Resolves when the process has loaded its library. Rejects if it ends before. */
  readonly ready: Promise<void>;
  readonly hasEnded: boolean;
  /** Passes an image's bytes on, and measures it. */
  measure(
    image: AsyncIterable<Uint8Array>,
    order: PreviewOrder,
    timeoutMs: number,
  ): Promise<Extract<FromDecoder, { kind: 'measured' }>>;
  /** Makes the measured image's preview. Ends the process if that takes too long. */
  decode(timeoutMs: number): Promise<Uint8Array>;
  /** Ends the process at once. */
  end(): void;
  readonly ended: Promise<void>;
}

const file = fileURLToPath(new URL('./decoder.ts', import.meta.url));

/** The service's variables that the process gets: none of its secrets. */
const passedVariables = ['NODE_COMPILE_CACHE', 'TZ'];

/** Starts a process. It ends with this one, however this one ends. */
export function startDecoder(): DecoderProcess {
  const child = forkDecoder();
  let expected: PromiseWithResolvers<FromDecoder> | undefined = Promise.withResolvers();
  let stage: Stage = 'starting';
  let endReason: string | undefined;

  child.on('message', (message: FromDecoder) => expected?.resolve(message));
  const ended = once(child, 'exit').then(([code, signal]) => {
    endReason ??= String(signal ?? code);
    expected?.reject(new DecoderEnded(endReason, stage));
  });
  const next = async (): Promise<FromDecoder> => {
    expected = Promise.withResolvers();
    if (endReason !== undefined) throw new DecoderEnded(endReason, stage);
    const message = await expected.promise;
    if (message.kind === 'failed') throw new UndecodableImage(message.message);
    return message;
  };
  const ready = expected.promise.then(() => {
    stage = 'measuring';
  });
  // The request for a preview gets the failure.
  ready.catch(() => {});

  function end(reason: string): void {
    endReason ??= reason;
    child.kill('SIGKILL');
  }

  /** Sends a step's last message, and ends the process if its answer takes too long. */
  async function ask<K extends FromDecoder['kind']>(kind: K, message: ToDecoder, timeoutMs: number) {
    const timer = setTimeout(end, timeoutMs, `an image took more than ${timeoutMs} ms`);
    try {
      const answer = next();
      const [given] = await Promise.all([answer, send(child, message)]);
      if (given.kind !== kind) throw new Error(`a decoder answered ${given.kind}`);
      return given as Extract<FromDecoder, { kind: K }>;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    pid: child.pid,
    ready,
    get hasEnded() {
      return endReason !== undefined;
    },
    async measure(image, order, timeoutMs) {
      for await (const bytes of image) await send(child, { kind: 'chunk', bytes });
      return ask('measured', { kind: 'measure', ...order }, timeoutMs);
    },
    async decode(timeoutMs) {
      stage = 'decoding';
      const { bytes } = await ask('made', { kind: 'decode' }, timeoutMs).finally(() => {
        if (endReason === undefined) stage = 'measuring';
      });
      return bytes;
    },
    end: () => end('it is not needed'),
    ended,
  };
}

function forkDecoder(): ChildProcess {
  const env = Object.fromEntries(passedVariables.map((name) => [name, process.env[name]]));
  const child = fork(file, [], {
    serialization: 'advanced',
    execArgv: ['--max-old-space-size=64'],
    env: { ...env, UV_THREADPOOL_SIZE: '2' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // A send to a dying process fails. Its exit rejects the work.
  child.on('error', () => {});
  return child;
}

/** Resolves when the message is on its way. A process that has ended is noticed by its exit. */
const send = (child: ChildProcess, message: ToDecoder): Promise<void> =>
  new Promise((resolve) => {
    if (child.connected) child.send(message, () => resolve());
    else resolve();
  });
