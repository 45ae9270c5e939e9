import { constants } from 'node:os';

/** As if SIGPIPE, which Node ignores, had ended the process: what a shell expects when a reader goes away. */
const readerGone = 128 + constants.signals.SIGPIPE;

/** The exit code once standard output could not take everything. */
let lost: number | undefined;
let end: (code: number) => void = (code) => process.exit(code);

/**
 * Ends the command when standard output takes no more, so that partial output never passes for all of it: with 141 when
 * the reader went away, otherwise (a full disk) with a sentence and 1. Notes that nobody reads end nothing.
 */
export function watchOutput(): void {
  process.stderr.on('error', () => {});
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (lost !== undefined) return;
    lost = error.code === 'EPIPE' ? readerGone : 1;
    if (lost === 1) process.stderr.write(`The output cannot be written: ${error.message}.\n`);
    end(lost);
  });
}

/** Sets what ends the command when its output is lost. By default the process ends at once. */
export function onLostOutput(next: (code: number) => void): void {
  end = next;
}

/**
 * Returns what ends the process after everything that was written is read, however slowly. `process.exit` alone drops
 * what a pipe has not taken yet. A second call ends it at once.
 */
export function createExit(): (code: number) => void {
  let isEnding = false;
  return (code) => {
    if (isEnding) process.exit(code);
    isEnding = true;
    const exit = () => process.exit(lost ?? code);
    onLostOutput(exit);
    void Promise.all([process.stdout, process.stderr].map(written)).then(exit);
  };
}

/** Waits until a stream has passed on what it holds, or has lost it. A lost stream's error comes first. */
const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.writableLength === 0) resolve();
    else stream.write('', () => setImmediate(resolve));
  });
