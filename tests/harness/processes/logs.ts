import type { JsonObject } from '../json.ts';

/** Returns the JSON log lines among a process's lines. Other lines are for people. */
export const logLines = (lines: readonly string[]): JsonObject[] =>
  lines.flatMap((line) => {
    if (!line.startsWith('{')) return [];
    try {
      return [JSON.parse(line) as JsonObject];
    } catch {
      return [];
    }
  });

/** Returns the log lines with level error or fatal. */
export const loggedErrors = (lines: readonly string[]): JsonObject[] =>
  logLines(lines).filter(({ level }) => level === 'error' || level === 'fatal');
