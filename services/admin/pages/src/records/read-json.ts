import { Unreadable } from '../ui/unreadable.ts';

/** A message of the browser may repeat the text. */
const longestReason = 200;

/** Reads the text of a JSON input. Nothing is null. */
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
