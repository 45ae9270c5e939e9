import type { FilterField, Test } from './filter-fields.ts';
import { localInput } from './values.ts';

/** A test of one field. */
export interface Condition {
  readonly field: string;
  readonly operator: string;
  /** As its control shows it. */
  readonly value: string;
}

/** A part of an expression that no condition can show. It is kept as it is. */
export interface RawPart {
  readonly raw: string;
}

export type FilterPart = Condition | RawPart;

/** An expression as parts, of which all must hold, or any. */
export interface FilterParts {
  readonly joins: '&&' | '||';
  readonly parts: readonly FilterPart[];
}

export const isRaw = (part: FilterPart): part is RawPart => 'raw' in part;

const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** Before the quote and before a backslash, a backslash means the next character (filters §2.3). */
function unquote(literal: string): string {
  const inner = literal.slice(1, -1);
  return inner.replace(literal.startsWith('"') ? /\\(["\\])/g : /\\(['\\])/g, '$1');
}

const testOf = (field: FilterField | undefined, operator: string): Test | undefined =>
  field?.tests.find((test) => test.operator === operator);

/** Whether a condition has the value that it needs. A text may be compared with an empty one. */
export function isComplete({ field, operator, value }: Condition, fields: readonly FilterField[]): boolean {
  const test = testOf(
    fields.find(({ name }) => name === field),
    operator,
  );
  if (test?.kind === 'none') return true;
  if (test?.kind === 'number') return numberPattern.test(value);
  if (test?.kind === 'days') return daysPattern.test(value);
  if (test?.kind === 'date') return !Number.isNaN(Date.parse(value));
  return test !== undefined && (value !== '' || (test.kind === 'text' && /^!?=$/.test(operator)));
}

const numberPattern = /^-?\d{1,20}(\.\d{1,20})?$/;
const daysPattern = /^\d{1,5}$/;

function writePart(part: FilterPart, fields: readonly FilterField[]): string {
  if (isRaw(part)) return part.raw;
  const { field, operator, value } = part;
  const kind = testOf(
    fields.find(({ name }) => name === field),
    operator,
  )?.kind;
  if (kind === 'none') return `${field} ${operator}`;
  if (kind === 'days') return `${field} ${operator}${value}d`;
  if (kind === 'number') return `${field} ${operator} ${value}`;
  if (kind === 'date') return `${field} ${operator} "${new Date(value).toISOString().replace('.000', '')}"`;
  return `${field} ${operator} ${quote(value)}`;
}

/** Writes the parts as an expression. */
export const writeFilter = ({ joins, parts }: FilterParts, fields: readonly FilterField[]): string =>
  parts.map((part) => writePart(part, fields)).join(` ${joins} `);

/** Longer expressions are one part. */
const longest = 10_000;

const literals = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?|true|false|null|@now-\d+d`;
const comparison = new RegExp(String.raw`^(\w+)\s*(!=|>=|<=|!~|=|~|>|<)\s*(${literals})$`);

/** Reads one comparison of a field with a literal. */
function readCondition(text: string, fields: readonly FilterField[]): Condition | undefined {
  const [, name, operator = '', literal = ''] = comparison.exec(text) ?? [];
  const field = fields.find((one) => one.name === name);
  if (!field) return undefined;
  const fixed = testOf(field, `${operator} ${literal}`);
  if (fixed) return { field: field.name, operator: fixed.operator, value: '' };
  const days = /^@now-(\d+)d$/.exec(literal)?.[1];
  if (days !== undefined && testOf(field, `${operator} @now-`))
    return { field: field.name, operator: `${operator} @now-`, value: days };
  const test = testOf(field, operator);
  if (!test || /^(?:null|@)/.test(literal)) return undefined;
  const value = /^["']/.test(literal) ? unquote(literal) : literal;
  const condition = { field: field.name, operator, value: test.kind === 'date' ? dateValue(literal) : value };
  const isKnown = test.kind !== 'choice' || field.choices.includes(value);
  return isKnown && isComplete(condition, fields) ? condition : undefined;
}

/** Returns a date's control's value. Empty for a date that it cannot show. */
function dateValue(literal: string): string {
  const text = /^["']/.test(literal) ? unquote(literal) : literal;
  if (/^\d{1,11}$/.test(text)) return localInput(Number(text));
  const isExact = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(text);
  return isExact ? localInput(Date.parse(text) / 1000) : '';
}

/** Reads an expression. A part that no condition can show stays as it is. */
export function readFilter(text: string, fields: readonly FilterField[]): FilterParts {
  const whole = text.trim();
  if (whole === '') return { joins: '&&', parts: [] };
  const found = split(whole);
  if (!found) return { joins: '&&', parts: [{ raw: enclose(whole) }] };
  const parts = found.texts.map((part) => readCondition(part, fields) ?? { raw: part });
  return { joins: found.joins, parts };
}

/** The line's end ends a comment. */
const enclose = (text: string): string => (text.includes('//') ? `(${text}\n)` : `(${text})`);

interface Split {
  readonly joins: '&&' | '||';
  readonly texts: readonly string[];
}

/** Splits an expression at its outermost operators. Undefined if they differ or the text is no expression. */
function split(whole: string): Split | undefined {
  if (whole.length > longest) return undefined;
  const tokens = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|&&|\|\||\/\/|[()]|[^"'&|/()]+|./gs;
  const texts = [''];
  const joins = new Set<string>();
  let depth = 0;
  for (const [token] of whole.matchAll(tokens)) {
    if (token === '//' || token === '"' || token === "'") return undefined;
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    if (depth < 0) return undefined;
    if (depth === 0 && (token === '&&' || token === '||')) {
      joins.add(token);
      texts.push('');
    } else texts.push(`${texts.pop()}${token}`);
  }
  if (depth !== 0 || joins.size > 1) return undefined;
  return { joins: joins.has('||') ? '||' : '&&', texts: texts.map((text) => text.trim()) };
}
