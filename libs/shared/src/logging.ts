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

/**
 * Standard output, written at once, so that the last line before an end is there. A reader that is slow gets the rest
 * from the stream's buffer; one that is gone (a closed terminal) costs the line, where pino's own would retry for ever.
 */
const standardOutput = {
  write(line: string): void {
    const bytes = Buffer.from(line);
    const written = tryWrite(bytes);
    if (written < bytes.length) process.stdout.write(bytes.subarray(written));
  },
};

process.stdout.on('error', () => {});

function tryWrite(bytes: Buffer): number {
  try {
    return writeSync(process.stdout.fd, bytes);
  } catch (error) {
    const isBusy = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
    return isBusy ? 0 : bytes.length;
  }
}
