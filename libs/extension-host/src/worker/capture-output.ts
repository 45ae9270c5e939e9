import { format } from 'node:util';
import type { LogLevel } from '../protocol.ts';

const levels: Readonly<Record<string, LogLevel>> = {
  log: 'info',
  info: 'info',
  debug: 'debug',
  warn: 'warn',
  error: 'error',
};

/** Redirects the console and the process's streams to the log. */
export function captureOutput(write: (level: LogLevel, message: string) => void): void {
  const lines = Object.entries(levels).map(([name, level]) => [
    name,
    (...values: unknown[]) => write(level, format(...values)),
  ]);
  Object.assign(globalThis.console, Object.fromEntries(lines));
  Object.assign(process.stdout, { write: writeTo('info') });
  Object.assign(process.stderr, { write: writeTo('error') });

  function writeTo(level: LogLevel) {
    return (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      write(level, Buffer.from(chunk).toString().trimEnd());
      const done = rest.at(-1);
      if (typeof done === 'function') done();
      return true;
    };
  }
}
