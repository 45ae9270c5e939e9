/** A log that keeps its lines: level, message, and fields without the error. */
export function recordingLog() {
  const lines: [level: string, message: string, fields: object][] = [];
  const record = (level: string) => (fields: object, message: string) => {
    const { err: _, ...rest } = { err: undefined, ...fields };
    lines.push([level, message, rest]);
  };
  const log = { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') };
  return { log, lines };
}
