import { writeSync } from 'node:fs';
import { currentLogFields } from '@recordbus/request/request-scope';
import { type Logger as PinoLogger, pino } from 'pino';
import { maskKeys } from './mask-keys.ts';
import { readableLine } from './readable-line.ts';
import { hasCode } from './system-error.ts';

export type Logger = PinoLogger;

const standardOutputFd = 1;

/**
 * Creates a service's JSON logger. A request's lines have its fields; secrets in logged objects are removed by name.
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

/** JSON for machines, text for people at a terminal. */
export type LogFormat = 'json' | 'text';

let format: LogFormat = 'json';

/** Sets this process's log format. */
export function setLogFormat(wanted: LogFormat): void {
  format = wanted;
}

/** Text that waits until this event loop turn ends, and bytes that a slow reader has not accepted yet. */
let pending = '';
let backlog: Buffer = Buffer.alloc(0);
let isScheduled = false;

/** The largest backlog in bytes; further lines are dropped, so that a stalled reader does not fill the memory. */
const maxBacklog = 16 * 1024 * 1024;
/** Pause before another write to a full reader, and how long an ending process retries, in milliseconds. */
const retryMs = 5;
const finalRetryMs = 1000;

/**
 * Standard output. Lines from one event loop turn are written together, which costs as much as one line. A fatal line
 * and a process's end write at once, so that the last line is never lost. A slow reader gets the rest later, in order.
 * Without a reader (a closed terminal) lines are lost, where pino's own stream would retry forever.
 */
const standardOutput = {
  write(line: string): void {
    if (backlog.length + pending.length > maxBacklog) return;
    const masked = maskKeys(line);
    pending += format === 'text' ? readableLine(masked) : masked;
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

/** Writes as much as the reader accepts now. */
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

/** Writes everything before it returns, unless the reader has stalled. */
function writeAll(): void {
  const deadlineMs = performance.now() + finalRetryMs;
  writeSome();
  const clock = new Int32Array(new SharedArrayBuffer(4));
  while (backlog.length > 0 && performance.now() < deadlineMs) {
    Atomics.wait(clock, 0, 0, retryMs);
    writeSome();
  }
}

/** Returns how many bytes are done: none when the reader is full, all when there is no reader. */
function tryWrite(bytes: Buffer): number {
  try {
    return writeSync(standardOutputFd, bytes);
  } catch (error) {
    const isBusy = hasCode(error, 'EAGAIN');
    return isBusy ? 0 : bytes.length;
  }
}
