import { Unreadable } from '../ui/unreadable.ts';

/** The browser's message may repeat the text. */
const longestReason = 200;

/** Reads a JSON input's text. Nothing is null. */
export function readJson(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    return new Unreadable(
      text,
      `Not valid JSON: ${error instanceof Error ? error.message : ''}`.slice(0, longestReason),
    );
  }
}
