import { limits } from '../limits.ts';
import { errorAt } from '../query-error.ts';
import { operators } from './ast.ts';

/** A token; `text` is a string's value, or the token as written. */
export interface Token {
  readonly kind: 'text' | 'number' | 'name' | 'macro' | 'operator' | 'join' | 'open' | 'close' | 'comma' | 'end';
  readonly text: string;
  readonly position: number;
}

/** Segments after the first may begin with a digit: they may be keys in a JSON value. */
const name = /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*(?::[A-Za-z]+)?/y;
/** A request value, or a moment with a shift (`@now-7d`). */
const macro = /@[A-Za-z]+(?:[+-][0-9]+[A-Za-z]|(?:\.[A-Za-z0-9_]+)*(?::[A-Za-z]+)?)/y;
const number = /-?[0-9]+(?:\.[0-9]+)?/y;
const texts: Readonly<Record<string, RegExp>> = { '"': /"(?:[^"\\]|\\.)*"/sy, "'": /'(?:[^'\\]|\\.)*'/sy };
const signs = /[=!<>~&|]+/y;
/** White space, and comments to the line's end. */
const space = /(?:[ \t\r\n]|\/\/[^\n]*)+/y;
/** Characters that may not follow a word directly: `1e5`, `a.` and `"a"b` are not two words. */
const wordContinues = /[A-Za-z0-9_.:@"'$#]/;

const operatorSigns: ReadonlySet<string> = new Set(operators);

/**
 * Splits an expression into tokens; the last one marks the end. Throws QueryError for a text that is too long, and for
 * characters that belong to no token.
 */
export function readTokens(source: string): Token[] {
  const { charactersWithItems: longest } = limits;
  if (source.length > longest && (source.length > 2 * longest || [...source].length > longest))
    throw errorAt(`an expression has at most ${longest} characters`, longest);
  const tokens: Token[] = [];
  let position = 0;
  for (;;) {
    position += match(space, source, position)?.length ?? 0;
    if (position === source.length) break;
    const token = readToken(source, position);
    tokens.push(token.token);
    position = token.end;
  }
  tokens.push({ kind: 'end', text: '', position });
  return tokens;
}

function readToken(source: string, position: number): { token: Token; end: number } {
  const first = source.charAt(position);
  const make = (kind: Token['kind'], raw: string, value = raw) => ({
    token: { kind, text: value, position },
    end: position + raw.length,
  });
  if (first === '(') return make('open', first);
  if (first === ')') return make('close', first);
  if (first === ',') return make('comma', first);
  const sign = match(signs, source, position);
  if (sign === '&&' || sign === '||') return make('join', sign);
  if (sign !== undefined) {
    if (operatorSigns.has(sign)) return make('operator', sign);
    throw errorAt(`unknown operator ${sign}`, position);
  }
  const text = texts[first];
  if (text) {
    const raw = match(text, source, position);
    if (raw === undefined) throw errorAt(`a string without its closing ${first}`, position);
    return endOfWord(source, make('text', raw, readText(raw, position)));
  }
  if (first === '@') {
    const raw = match(macro, source, position);
    if (raw !== undefined) return endOfWord(source, make('macro', raw));
  }
  for (const [kind, pattern] of [
    ['name', name],
    ['number', number],
  ] as const) {
    const raw = match(pattern, source, position);
    if (raw !== undefined) return endOfWord(source, make(kind, raw));
  }
  throw errorAt(`unexpected ${JSON.stringify(String.fromCodePoint(source.codePointAt(position) ?? 0))}`, position);
}

function endOfWord<T extends { end: number }>(source: string, word: T): T {
  const next = source.charAt(word.end);
  if (wordContinues.test(next)) throw errorAt(`unexpected ${JSON.stringify(next)}`, word.end);
  return word;
}

/**
 * Returns a string's value. A `\` before its kind of quote or before `\` is removed, any other `\` stays (filters
 * §2.3).
 */
function readText(raw: string, position: number): string {
  const quote = raw.charAt(0);
  const value = raw
    .slice(1, -1)
    .replace(/\\(["'\\])/g, (pair, sign) => (sign === quote || sign === '\\' ? sign : pair));
  // No record has NUL or half a surrogate pair, and the database refuses them in a parameter.
  if (value.includes('\0') || !value.isWellFormed())
    throw errorAt('a string with a character that no record can hold', position);
  return value;
}

function match(pattern: RegExp, source: string, position: number): string | undefined {
  pattern.lastIndex = position;
  return pattern.exec(source)?.[0];
}
