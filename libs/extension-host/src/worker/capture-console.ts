import { format } from 'node:util';
import type { LogLevel } from '../protocol.ts';

const levels: Readonly<Record<string, LogLevel>> = {
  log: 'info',
  info: 'info',
  debug: 'debug',
  warn: 'warn',
  error: 'error',
};

/** Makes lines of the log of what code writes to the console. */
export function captureConsole(write: (level: LogLevel, message: string) => void): void {
  const lines = Object.entries(levels).map(([name, level]) => [
    name,
    (...values: unknown[]) => write(level, format(...values)),
  ]);
  Object.assign(globalThis.console, Object.fromEntries(lines));
}
