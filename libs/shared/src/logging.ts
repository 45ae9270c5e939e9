import { writeSync } from 'node:fs';
import { type Logger as PinoLogger, pino } from 'pino';
import { currentLogFields } from './request-scope.ts';

export type Logger = PinoLogger;

const standardOutputFd = 1;

/**
 * Makes the JSON logger of a service. Lines that a request causes have its fields; secrets that could sit in a logged
 * object are removed by name.
 */
export function createLogger(service: string, level: string): Logger {
  const options = {
    level,
    base: { service },
    mixin: currentLogFields,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: ['*.authorization', '*.password', '*.token', '*.secret', 'authorization', 'password', 'token', 'secret'],
      remove: true,
    },
  };
  return pino(options, standardOutput);
}

/** Text that waits for the end of this turn of the event loop, and bytes that a slow reader has not taken yet. */
let pending = '';
let backlog: Buffer = Buffer.alloc(0);
let isScheduled = false;

/** A reader that takes nothing any more must not fill the memory: beyond this, in bytes, lines are dropped. */
const maxBacklog = 16 * 1024 * 1024;
/** Pause before a reader that is full is tried again, and how long an ending process goes on trying, in milliseconds. */
const retryMs = 5;
const lastPatienceMs = 1000;

/**
 * Standard output. The lines of one turn of the event loop go out in one write, which costs as much as a single line's;
 * a fatal line and the end of the process write at once, so that the last line before an end is there. A reader that
 * is slow gets the rest as it comes to it, in order; one that is gone (a closed terminal) costs the lines, where pino's
 * own would retry for ever.
 */
const standardOutput = {
  write(line: string): void {
    if (backlog.length + pending.length > maxBacklog) return;
    pending += line;
    schedule(setImmediate);
  },
  flushSync: writeAll,
};

process.on('exit', writeAll);

function schedule(later: (work: () => void) => unknown): void {
  if (isScheduled) return;
  isScheduled = true;
  later(() => {
    isScheduled = false;
    writeSome();
    if (backlog.length > 0) schedule((work) => setTimeout(work, retryMs));
  });
}

/** Writes what the reader takes now. */
function writeSome(): void {
  if (pending !== '') {
    const bytes = Buffer.from(pending);
    backlog = backlog.length === 0 ? bytes : Buffer.concat([backlog, bytes]);
    pending = '';
  }
  while (backlog.length > 0) {
    const written = tryWrite(backlog);
    if (written === 0) return;
    backlog = backlog.subarray(written);
  }
}

/** Writes everything before it returns, unless the reader stands still. */
function writeAll(): void {
  const givingUpMs = performance.now() + lastPatienceMs;
  writeSome();
  const clock = new Int32Array(new SharedArrayBuffer(4));
  while (backlog.length > 0 && performance.now() < givingUpMs) {
    Atomics.wait(clock, 0, 0, retryMs);
    writeSome();
  }
}

/** Tells how many bytes are done with: none when the reader is full, all when there is no reader. */
function tryWrite(bytes: Buffer): number {
  try {
    return writeSync(standardOutputFd, bytes);
  } catch (error) {
    const isBusy = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
    return isBusy ? 0 : bytes.length;
  }
}
