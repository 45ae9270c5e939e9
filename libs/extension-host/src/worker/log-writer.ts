import type { FromWorker, LogLevel } from '../protocol.ts';

/** Writes a line to the service's log. */
export type WriteLog = (level: LogLevel, message: string, fields?: object) => void;

/** The most lines per second and characters per line, so that a loop that logs does not burden the service. */
const maxLines = 200;
const maxLength = 16_384;
const windowMs = 1000;
/** Saved before extension code could replace them. */
const { parse, stringify } = JSON;

/** Creates a worker's log; it omits lines beyond the limit and logs how many. */
export function createLogWriter(say: (message: FromWorker) => void): WriteLog {
  let begunMs = Number.NEGATIVE_INFINITY;
  let written = 0;
  let omitted = 0;

  function beginWindow(): void {
    if (omitted > 0) say({ type: 'log', level: 'warn', message: `${omitted} lines were omitted from the log` });
    begunMs = performance.now();
    written = 0;
    omitted = 0;
  }

  return (level, message, fields) => {
    if (performance.now() - begunMs >= windowMs) beginWindow();
    if (written < maxLines) {
      written += 1;
      say({ type: 'log', level, message: cut(message), fields: fields && plain(fields) });
      return;
    }
    omitted += 1;
    if (omitted === 1) setTimeout(beginWindow, windowMs).unref();
  };
}

const cut = (text: string): string => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);

/** Fields that cannot be written as JSON must not fail the call. */
function plain(fields: unknown): object {
  if (typeof fields !== 'object' || Array.isArray(fields)) return { value: fields };
  try {
    const text = stringify(fields);
    return text.length > maxLength ? { left_out: `fields of ${text.length} characters` } : parse(text);
  } catch {
    return {};
  }
}
