/** What the lines of the log have of their own. */
const taken: ReadonlySet<string> = new Set(['level', 'time', 'msg', 'service', 'extension', 'request_id', 'trace_id']);

/** Fields that code gives a line; those that the line has itself are kept apart from them, as `level_`. */
export const toLogFields = (given: object | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given ?? {}).map(([name, value]) => [taken.has(name) ? `${name}_` : name, value]));
