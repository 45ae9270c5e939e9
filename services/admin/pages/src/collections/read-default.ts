import { readJson } from '../records/read-json.ts';
import { readNumber } from '../ui/read-number.ts';
import { Unreadable } from '../ui/unreadable.ts';

/** Types whose default is the text itself. */
const texts: readonly string[] = ['text', 'email', 'url', 'editor'];

/** Reads a field default's text. Nothing is undefined. */
export function readDefault(type: string, options: Readonly<Record<string, unknown>>, text: string): unknown {
  const typed = text.trim();
  if (typed === '') return undefined;
  if (texts.includes(type)) return text;
  if (type === 'number') return readNumber(text);
  if (type === 'bool') return typed === 'true' || typed === 'false' ? typed === 'true' : wrong(text, 'true or false');
  // The server knows its macros, such as @now, and reads dates as text.
  if (type === 'date') return Number.isFinite(Number(typed)) ? Number(typed) : typed;
  if ((type === 'select' || type === 'relation') && options.multiple !== true) return typed;
  const value = readJson(text);
  if (value instanceof Unreadable || type === 'json' || type === 'geoPoint') return value;
  return Array.isArray(value) ? value : wrong(text, 'a list, such as ["a", "b"]');
}

const wrong = (text: string, what: string): Unreadable => new Unreadable(text, `Must be ${what}.`);

/** Returns a field default's text, for its input. */
export function defaultText(type: string, value: unknown): string {
  if (value instanceof Unreadable) return value.text;
  if (value === undefined) return '';
  return typeof value === 'string' && type !== 'json' ? value : JSON.stringify(value);
}
