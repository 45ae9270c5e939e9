/** The fields that every log line has. */
const reserved: ReadonlySet<string> = new Set([
  'level',
  'time',
  'msg',
  'service',
  'extension',
  'request_id',
  'trace_id',
]);

/** Returns the fields that code adds to a log line; those with reserved names get an underscore, such as `level_`. */
export const toLogFields = (given: object | undefined): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(given ?? {}).map(([name, value]) => [reserved.has(name) ? `${name}_` : name, value]),
  );
