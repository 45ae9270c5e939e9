import { quote } from './condition.ts';
import type { Operand } from './tree.ts';
import { Untranslatable } from './untranslatable.ts';

export type Literal =
  /** `null` and `""` are the same, but not for JSON. */
  | { readonly type: 'empty'; readonly isNull: boolean }
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'number'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'moment'; readonly name: string };

const moments = new Set([
  '@now',
  '@yesterday',
  '@tomorrow',
  '@todayStart',
  '@todayEnd',
  '@monthStart',
  '@monthEnd',
  '@yearStart',
  '@yearEnd',
]);
const clock = new Set(['@second', '@minute', '@hour', '@day', '@weekday', '@month', '@year']);

/** Reads a literal or a macro; undefined for other operands. `isField` tells `true` from a field with this name. */
export function readLiteral(operand: Operand, isField: (name: string) => boolean): Literal | undefined {
  if (operand.kind === 'text')
    return operand.value === '' ? { type: 'empty', isNull: false } : { type: 'text', value: operand.value };
  if (operand.kind === 'number') return { type: 'number', value: operand.value };
  if (operand.kind !== 'name') return undefined;
  const { name } = operand;
  if (moments.has(name)) return { type: 'moment', name };
  if (clock.has(name)) throw new Untranslatable(name);
  const word = name.toLowerCase();
  if (!['true', 'false', 'null'].includes(word) || isField(name)) return undefined;
  return word === 'null' ? { type: 'empty', isNull: true } : { type: 'bool', value: word === 'true' };
}

/** A number as a literal here, which has no exponent. */
export function numberText(value: number): string {
  const text = String(value);
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw new Untranslatable(`the number ${text}`);
  return text;
}

/** The text that SQLite makes from a number or a bool before it compares it with a text. */
export function asStoredText(literal: Literal): string {
  switch (literal.type) {
    case 'text':
      return literal.value;
    case 'number':
      return Number.isInteger(literal.value) ? `${numberText(literal.value)}.0` : numberText(literal.value);
    case 'bool':
      return literal.value ? '1' : '0';
    default:
      throw new Untranslatable('a text compared with a time');
  }
}

/** Whether lower case here and in SQLite, which knows ASCII only, is the same for the text. */
export const hasPlainCase = (text: string): boolean =>
  [...text].every((char) => char < '\x80' || (char.toLowerCase() === char && char.toUpperCase() === char));

/** The text that `~` looks for. Throws Untranslatable for a pattern. */
export function searchedText(literal: Literal): string {
  if (literal.type === 'empty' && !literal.isNull) return '';
  if (literal.type !== 'text') throw new Untranslatable('~ with a value that is not a text');
  // A percent sign on both sides is what PocketBase adds to a text without any.
  const [, between] = /^%([^%_\\]*)%$/.exec(literal.value) ?? [];
  if (between !== undefined) return between;
  if (literal.value.includes('%') || literal.value.includes('\\'))
    throw new Untranslatable(`the pattern ${quote(literal.value)}`);
  return literal.value;
}
