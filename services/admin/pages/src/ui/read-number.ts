import { Unreadable } from './unreadable.ts';

/** Longer texts are not numbers that someone types. */
const longestNumber = 400;

/** Reads a number input's text. Nothing is null. */
export function readNumber(text: string): number | null | Unreadable {
  const typed = text.trim();
  if (typed === '') return null;
  const isNumber = typed.length <= longestNumber && /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(typed);
  const value = isNumber ? Number(typed) : Number.NaN;
  if (Number.isFinite(value)) return value;
  return new Unreadable(text, typed.includes(',') ? 'Not a number. Write 1.5, without commas.' : 'Not a number.');
}
