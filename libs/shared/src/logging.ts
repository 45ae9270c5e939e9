import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** Makes the JSON logger of a service; secrets that could sit in a logged object are removed by name. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['*.authorization', '*.password', '*.token', '*.secret', 'authorization', 'password', 'token', 'secret'],
      remove: true,
    },
  });
}
