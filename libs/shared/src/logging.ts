import { writeSync } from 'node:fs';
import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** Makes the JSON logger of a service; secrets that could sit in a logged object are removed by name. */
export function createLogger(service: string, level: string): Logger {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: ['*.authorization', '*.password', '*.token', '*.secret', 'authorization', 'password', 'token', 'secret'],
      remove: true,
    },
  };
  return pino(options, standardOutput);
}

let pending = '';

/**
 * Standard output. The lines of one turn of the event loop go out in one write, which costs as much as a single line's;
 * a fatal line and the end of the process write at once, so that the last line before an end is there. A reader that is
 * slow gets the rest from the stream's buffer; one that is gone (a closed terminal) costs the lines, where pino's own
 * would retry for ever.
 */
const standardOutput = {
  write(line: string): void {
    if (pending === '') setImmediate(writePending);
    pending += line;
  },
  flushSync: writePending,
};

process.stdout.on('error', () => {});
process.on('exit', writePending);

function writePending(): void {
  if (pending === '') return;
  const bytes = Buffer.from(pending);
  pending = '';
  const written = tryWrite(bytes);
  if (written < bytes.length) process.stdout.write(bytes.subarray(written));
}

function tryWrite(bytes: Buffer): number {
  try {
    return writeSync(process.stdout.fd, bytes);
  } catch (error) {
    const isBusy = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
    return isBusy ? 0 : bytes.length;
  }
}
