import type { FromWorker, LogLevel } from '../protocol.ts';

/** Writes a line of the service's log. */
export type WriteLog = (level: LogLevel, message: string, fields?: object) => void;

/** A loop that logs is not to become one of the service's: most lines in a second, and most characters in one. */
const maxLines = 200;
const maxLength = 16_384;
const windowMs = 1000;
/** As they were before code of an extension could put its own in their place. */
const { parse, stringify } = JSON;

/** Makes what writes the log of a worker; of too much it leaves out the rest, and says so. */
export function createLogWriter(say: (message: FromWorker) => void): WriteLog {
  let begunMs = Number.NEGATIVE_INFINITY;
  let written = 0;
  let leftOut = 0;

  function beginWindow(): void {
    if (leftOut > 0) say({ type: 'log', level: 'warn', message: `${leftOut} lines were left out of the log` });
    begunMs = performance.now();
    written = 0;
    leftOut = 0;
  }

  return (level, message, fields) => {
    if (performance.now() - begunMs >= windowMs) beginWindow();
    if (written < maxLines) {
      written += 1;
      say({ type: 'log', level, message: cut(message), fields: fields && plain(fields) });
      return;
    }
    leftOut += 1;
    if (leftOut === 1) setTimeout(beginWindow, windowMs).unref();
  };
}

const cut = (text: string): string => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);

/** Fields that can not be written as JSON must not fail the call. */
function plain(fields: unknown): object {
  if (typeof fields !== 'object' || Array.isArray(fields)) return { value: fields };
  try {
    const text = stringify(fields);
    return text.length > maxLength ? { left_out: `fields of ${text.length} characters` } : parse(text);
  } catch {
    return {};
  }
}
