import type { Literal } from '../src/language/ast.ts';

/** A value that may be null, with a type that may be open (a literal, a request value). */
export interface Value {
  readonly value: unknown;
  readonly type: 'text' | 'number' | 'date' | 'bool' | 'list' | 'json' | 'vector' | undefined;
  /** An open value's type, when the other side has none. */
  readonly leaning?: Value['type'];
  readonly literal?: Literal;
  /** Whether the value is from the caller's account. Such a null equals nothing. */
  readonly isCallers?: boolean;
}

/** Whether two values are the same; two nulls are. */
export function isEqual(a: Value, b: Value): boolean {
  const [aNull, bNull] = [isNull(a), isNull(b)];
  const isNullTest = a.literal?.kind === 'null' || b.literal?.kind === 'null';
  if ((a.isCallers || b.isCallers) && !isNullTest) return isSame(a, b);
  return aNull || bNull ? aNull && bNull : isSame(a, b);
}

/** Whether two values are the same, or one is in the other's list. Null equals nothing. */
export function isSame(a: Value, b: Value): boolean {
  if (isNull(a) || isNull(b)) return false;
  const type = commonType(a, b);
  if (type === 'list') {
    const [list, other] = typeOf(a) === 'list' ? [a, b] : [b, a];
    const items = typeOf(other) === 'list' ? itemsOf(other.value) : [readAs(other, 'text')];
    return itemsOf(list.value).some((item) => items.includes(item));
  }
  const [x, y] = [readAs(a, type), readAs(b, type)];
  return x !== undefined && y !== undefined && jsonText(x) === jsonText(y);
}

/** Whether the first value contains the second's text. */
export function contains(a: Value, b: Value): boolean {
  const needle = textOf(b);
  if (needle === undefined) return false;
  const hays = typeOf(a) === 'list' ? itemsOf(a.value) : [textOf(a)];
  return hays.some((hay) => typeof hay === 'string' && lower(hay).includes(lower(needle)));
}

/** Whether both values exist and are in this order. */
export function isInOrder(operator: '>' | '>=' | '<' | '<=', a: Value, b: Value): boolean {
  const type = commonType(a, b);
  const order = orderOf(readAs(a, type), readAs(b, type));
  if (order === undefined) return false;
  return { '>': order > 0, '>=': order >= 0, '<': order < 0, '<=': order <= 0 }[operator];
}

/** Whether there is no value; an empty list counts as none. */
export const isNull = ({ value, type }: Value): boolean =>
  value === null || value === undefined || (type === 'list' && Array.isArray(value) && value.length === 0);

export const typeOf = ({ type, leaning }: Value) => type ?? leaning;
/** A list's entries. */
export const itemsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : value == null ? [] : [value]);

function commonType(a: Value, b: Value): Value['type'] {
  const types = [a.type, b.type].filter((type) => type !== undefined);
  if (a.leaning === 'list' || b.leaning === 'list' || types.includes('list')) return 'list';
  if (types.includes('json')) return 'json';
  if (types.length === 2) return types[0] === types[1] ? types[0] : 'number';
  const literals = [a.literal?.kind, b.literal?.kind];
  return (
    types[0] ??
    a.leaning ??
    b.leaning ??
    (['bool', 'number', 'text'] as const).find((kind) => literals.includes(kind)) ??
    'json'
  );
}

/** Undefined where the value cannot be read as that type. */
function readAs(side: Value, type: Value['type']): unknown {
  const { value, literal } = side;
  if (value === null || value === undefined) return undefined;
  if (side.type !== undefined) return value;
  const text = literal?.kind === 'number' ? literal.digits : value;
  switch (type) {
    case 'text':
      return textOf(side);
    case 'number':
      return typeof text === 'string' ? (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined) : onlyNumber(text);
    case 'date':
      return readDate(text, literal !== undefined);
    case 'bool':
      if (value === true || text === 'true' || text === '1' || text === 1) return true;
      return value === false || text === 'false' || text === '0' || text === 0 ? false : undefined;
    default:
      return value;
  }
}

/** Request values are whole seconds, as in writes. Text operands have one form only. */
function readDate(value: unknown, isLiteral: boolean): number | undefined {
  const isDecimal = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value);
  if (typeof value === 'string' && !isDecimal)
    return /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?$/.test(value) ? Date.parse(value) / 1000 : undefined;
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
  if (!(Math.abs(number) <= 1e11)) return undefined;
  return isLiteral && isDecimal ? number : Math.floor(number);
}

const onlyNumber = (value: unknown) => (typeof value === 'number' ? value : undefined);

/** A value's text. */
export function textOf({ value, type, literal }: Value): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (type === undefined && typeof value === 'object') return undefined;
  if (literal?.kind === 'number') return literal.digits;
  return typeof value === 'string' ? value : jsonText(value);
}

function orderOf(a: unknown, b: unknown): number | undefined {
  if (typeof a !== typeof b) return undefined;
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
  return typeof a === 'number' || typeof a === 'boolean' ? Number(a) - Number(b) : undefined;
}

/** JSON as PostgreSQL writes it: keys by length, then by bytes; a space after commas and colons. */
export function jsonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}: ${jsonText(item)}`).join(', ')}}`;
}

/** Simple case mapping: one character becomes one. */
export const lower = (text: string): string => Array.from(text, (char) => [...char.toLowerCase()][0]).join('');
