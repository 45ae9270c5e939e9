import type { JsonObject } from './json.ts';

/** The JSON log lines among the lines that a process wrote; other lines are for people. */
export const logLines = (lines: readonly string[]): JsonObject[] =>
  lines.flatMap((line) => {
    if (!line.startsWith('{')) return [];
    try {
      return [JSON.parse(line) as JsonObject];
    } catch {
      return [];
    }
  });

/** What was logged as something that somebody should act on. */
export const loggedErrors = (lines: readonly string[]): JsonObject[] =>
  logLines(lines).filter(({ level }) => level === 'error' || level === 'fatal');
