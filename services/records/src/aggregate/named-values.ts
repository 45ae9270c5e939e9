import { type DerivedRows, errorAt } from '@recordbus/query';
import type { ValueKind } from '@recordbus/schema';
import { withoutSpaces } from './calculation.ts';
import type { Aggregate } from './read-aggregate.ts';

/** A computed value, and its column in the group rows. */
interface NamedValue extends Pick<Aggregate, 'of'> {
  readonly column: string;
  readonly kind: ValueKind;
}

/** Finds a value by its function and what it computes, such as `avg(solved_at - created)`; spaces do not count. */
export const findValue = <T extends Pick<Aggregate, 'of'>>(text: string, values: readonly T[]): T | undefined =>
  values.find(({ of }) => of && withoutSpaces(`${of.function}(${of.text})`) === withoutSpaces(text));

/** A text in quotes, a comment, or a function's name before its parenthesis. */
const textOrCall = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/[^\n]*|\b(?:sum|avg|min|max)\s*\(/gs;

/**
 * Replaces the values that an expression over groups names by their functions with names of columns, and leaves all
 * positions. Throws QueryError for a value that is not computed.
 */
export function nameValues(
  text: string,
  values: readonly NamedValue[],
): Pick<DerivedRows, 'columns'> & { readonly text: string } {
  const columns = new Map<string, NamedValue>();
  let named = '';
  let copied = 0;
  for (const match of text.matchAll(textOrCall)) {
    if (!/^[a-z]/.test(match[0]) || match.index < copied) continue;
    const end = endOfCall(text, match.index + match[0].length);
    const call = text.slice(match.index, end);
    const value = findValue(call, values);
    if (!value) throw errorAt(`the answer has no member ${JSON.stringify(call)}`, match.index);
    // No member's name begins with an underscore.
    const name = `_${value.column}`;
    columns.set(name, value);
    named += text.slice(copied, match.index) + name.padEnd(call.length);
    copied = end;
  }
  return { text: named + text.slice(copied), columns };
}

/** Where a call ends whose parenthesis is before `start`. */
function endOfCall(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  throw errorAt('expected ), found the end', text.length);
}
