/** Fields that have a fixed position in a line, or that are omitted because people do not need them. */
const placed = new Set([
  'time',
  'level',
  'service',
  'msg',
  'err',
  'method',
  'path',
  'status',
  'duration_ms',
  'trace_id',
]);

/** Characters that could move a terminal's cursor or begin a line; clients choose some of the texts. */
const unprintable = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Formats a JSON log line for a terminal: the time, the message, then the other fields. */
export function readableLine(json: string): string {
  const line: Record<string, unknown> = JSON.parse(json);
  const time = new Date(String(line.time)).toTimeString().slice(0, 8);
  const level = line.level === 'info' ? '' : `${String(line.level).toUpperCase()} `;
  const others = Object.entries(line).flatMap(([name, value]) =>
    placed.has(name) || value === undefined ? [] : [`${name}=${shown(value)}`],
  );
  const words = [`${time} ${level}${shown(line.service)}:`, requestOf(line) ?? printable(String(line.msg)), ...others];
  return `${words.join(' ')}\n${stackOf(line.err)}`;
}

/** Formats the request in an access-log line, or in another line with a method. */
function requestOf({
  msg,
  method,
  path,
  status,
  duration_ms: durationMs,
}: Record<string, unknown>): string | undefined {
  if (method === undefined) return undefined;
  if (status === undefined) return printable(`${msg}: ${method}${path === undefined ? '' : ` ${path}`}`);
  return printable(`${status} ${method} ${path} in ${Math.round(Number(durationMs))} ms`);
}

function stackOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { stack, message } = error as { stack?: unknown; message?: unknown };
  const text = String(stack ?? message ?? JSON.stringify(error));
  return text
    .split('\n')
    .map((one) => `    ${printable(one.trim())}\n`)
    .join('');
}

const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return printable(/^[^\s"=]+$/.test(text) || typeof value !== 'string' ? text : JSON.stringify(text));
};

const printable = (text: string): string =>
  text.replace(unprintable, (found) => `\\u${(found.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
