import { type Condition, test } from './condition.ts';
import type { Operator } from './tree.ts';
import { Untranslatable } from './untranslatable.ts';

const firstSec = Date.parse('0001-01-01T00:00:00Z') / 1000;
const lastSec = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;
const fraction = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.(\d*)Z?$/;

/** A date as PocketBase stores it. */
const storedText = (sec: number) => new Date(sec * 1000).toISOString().replace('T', ' ');

/**
 * Compares a date with a text. PocketBase compares the stored text with it, character by character, so `"2024-01-01"` comes
 * before the day's first second. Throws Untranslatable for parts of a second.
 */
export function compareDate(path: string, operator: Operator, text: string): Condition {
  if (operator === '~' || operator === '!~') throw new Untranslatable('a date is searched as text');
  if (/[1-9]/.test(fraction.exec(text)?.[1] ?? '')) throw new Untranslatable('a date with a fraction of a second');
  const from = firstNotBefore(text);
  const isThere = test(`${path} != null`);
  if (from !== undefined && storedText(from) === text) return test(`${path} ${operator} ${literal(from)}`);
  switch (operator) {
    case '=':
      return 'never';
    case '!=':
      return 'always';
    case '<':
    case '<=':
      return from === undefined ? isThere : from === firstSec ? 'never' : test(`${path} < ${literal(from)}`);
    default:
      return from === undefined ? 'never' : from === firstSec ? isThere : test(`${path} >= ${literal(from)}`);
  }
}

/** The first second whose stored text does not come before the text; undefined if there is none. */
function firstNotBefore(text: string): number | undefined {
  if (storedText(lastSec) < text) return undefined;
  let [low, high] = [firstSec, lastSec];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (storedText(middle) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

function literal(sec: number): string {
  const text = new Date(sec * 1000).toISOString();
  return JSON.stringify(text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.replace('.000Z', 'Z'));
}

const ends = new Set(['@todayEnd', '@monthEnd', '@yearEnd']);

/** In PocketBase a day ends with its last millisecond, here with its last second, which comes before it. */
export function compareMoment(path: string, operator: Operator, moment: string): Condition {
  if (operator === '~' || operator === '!~') throw new Untranslatable('a date is searched as text');
  if (!ends.has(moment) && operator !== '=' && operator !== '!=') return test(`${path} ${operator} ${moment}`);
  if (!ends.has(moment)) throw new Untranslatable(`${operator} ${moment}`);
  const operators: Readonly<Record<string, string>> = { '<': '<=', '>=': '>' };
  if (operator === '=' || operator === '!=') return operator === '=' ? 'never' : 'always';
  return test(`${path} ${operators[operator] ?? operator} ${moment}`);
}
