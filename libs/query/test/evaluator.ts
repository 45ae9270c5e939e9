import type { Collection, Field } from '@recordbus/schema';
import type { Comparison, Expression, Literal, Operand } from '../src/ast.ts';
import type { RequestValues } from '../src/index.ts';
import { parse } from '../src/parser.ts';
import type { Item, World } from './world.ts';

/** What an expression is evaluated in. */
interface Situation {
  readonly world: World;
  readonly collection: Collection;
  readonly record: Item;
  readonly request: RequestValues;
  readonly audience: 'rule' | 'client' | 'admin';
}

/**
 * A second implementation of expressions, independent of the compiler: it evaluates the parsed text over objects in
 * memory. For expressions that the compiler accepts.
 */
export function evaluate(expression: Expression, situation: Situation): boolean {
  switch (expression.kind) {
    case 'all':
      return expression.items.every((item) => evaluate(item, situation));
    case 'any':
      return expression.items.some((item) => evaluate(item, situation));
    case 'comparison':
      return compare(expression, situation);
  }
}

/** The value at the end of a dotted path. */
export const valueAt = (path: string, situation: Situation): unknown => pathValue(path.split('.'), situation).value;

/** One side: a value that may be null, of a type that may be open (a literal, a value of the request). */
interface Side {
  readonly value: unknown;
  readonly type: 'text' | 'number' | 'date' | 'bool' | 'list' | 'json' | undefined;
  /** The type of an open value, when the other side has none. */
  readonly leaning?: Side['type'];
  readonly literal?: Literal;
  readonly isGuests?: boolean;
}

function compare({ operator, left, right }: Comparison, situation: Situation): boolean {
  const a = sideOf(left, situation);
  const b = sideOf(right, situation);
  if (a.isGuests || b.isGuests) return false;
  if (operator === '!=') return !isEqual(a, b);
  if (operator === '=') return isEqual(a, b);
  if (operator === '~') return contains(a, b);
  if (operator === '!~') return !contains(a, b);
  const type = commonType(a, b);
  const order = orderOf(readAs(a, type), readAs(b, type));
  if (order === undefined) return false;
  return { '>': order > 0, '>=': order >= 0, '<': order < 0, '<=': order <= 0 }[operator];
}

function isEqual(a: Side, b: Side): boolean {
  const [aNull, bNull] = [isNull(a), isNull(b)];
  if (aNull || bNull) return aNull && bNull;
  const type = commonType(a, b);
  if (type === 'list') {
    const [list, item] = typeOf(a) === 'list' ? [a, b] : [b, a];
    return itemsOf(list.value).includes(readAs(item, 'text'));
  }
  const [x, y] = [readAs(a, type), readAs(b, type)];
  return x !== undefined && y !== undefined && jsonText(x) === jsonText(y);
}

function contains(a: Side, b: Side): boolean {
  const needle = textOf(b);
  if (needle === undefined) return false;
  const hays = typeOf(a) === 'list' ? itemsOf(a.value) : [textOf(a)];
  return hays.some((hay) => typeof hay === 'string' && lower(hay).includes(lower(needle)));
}

const isNull = ({ value, type }: Side): boolean =>
  value === null || value === undefined || (type === 'list' && Array.isArray(value) && value.length === 0);

const typeOf = ({ type, leaning }: Side) => type ?? leaning;
const itemsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : value == null ? [] : [value]);

function commonType(a: Side, b: Side): Side['type'] {
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
function readAs(side: Side, type: Side['type']): unknown {
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

/** Values of the request are whole seconds, as in writes. */
function readDate(value: unknown, isLiteral: boolean): number | undefined {
  const isDecimal = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value);
  if (isLiteral && isDecimal) return Number(value);
  const number = typeof value === 'string' && !isDecimal ? Date.parse(value) / 1000 : Number(value);
  const isReadable =
    (typeof value === 'string' || typeof value === 'number') && Number.isSafeInteger(Math.floor(number));
  return isReadable ? Math.floor(number) : undefined;
}

const onlyNumber = (value: unknown) => (typeof value === 'number' ? value : undefined);

function textOf({ value, type, literal }: Side): string | undefined {
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
function jsonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}: ${jsonText(item)}`).join(', ')}}`;
}

/** Simple case mapping: one character becomes one. */
const lower = (text: string): string => Array.from(text, (char) => [...char.toLowerCase()][0]).join('');

function sideOf(operand: Operand, situation: Situation): Side {
  switch (operand.kind) {
    case 'null':
      return { value: null, type: undefined };
    case 'text':
    case 'bool':
      return { value: operand.value, type: undefined, literal: operand };
    case 'number':
      return { value: Number(operand.digits), type: undefined, literal: operand };
    case 'moment':
      return { value: momentOf(operand.name), type: 'date' };
    case 'path':
      return modified(pathValue(operand.segments, situation), operand.modifier);
    case 'request':
      return requestValue(operand, situation);
  }
}

function modified(side: Side, modifier: string | undefined): Side {
  if (modifier !== 'lower') return side;
  const text = textOf(side);
  return { value: text === undefined ? null : lower(text), type: 'text' };
}

function momentOf(name: 'now' | 'todayStart' | 'todayEnd'): number {
  const now = Math.floor(Date.now() / 1000);
  if (name === 'now') return now;
  return Math.floor(now / 86400) * 86400 + (name === 'todayEnd' ? 86399 : 0);
}

const fieldOf = (collection: Collection, name: string): Field | undefined =>
  collection.fields.find((field) => field.name === name);

function typeOfField(field: Field | undefined, name: string): Side['type'] {
  if (!field) return name === 'id' ? 'text' : 'date';
  if (field.options.multiple) return 'list';
  const types: Record<string, Side['type']> = { number: 'number', bool: 'bool', date: 'date', json: 'json' };
  return types[field.type] ?? 'text';
}

function pathValue([name = '', ...rest]: readonly string[], situation: Situation): Side {
  const { collection, record, world } = situation;
  const field = fieldOf(collection, name);
  const value = record[name] ?? null;
  const type = typeOfField(field, name);
  if (rest.length === 0) return { value, type };
  if (type === 'json') return { value: rest.reduce(memberOf, value) ?? null, type };
  const target = world.collections[field?.collection ?? ''];
  if (!target) throw new Error(`no relation ${name}`);
  const found = world.records[target.name]?.find(({ id }) => id === value);
  const there = { ...situation, collection: target, record: found ?? {} };
  const side = pathValue(rest, there);
  return found && isListed(there) ? side : { ...side, value: null };
}

const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : null;

function isListed(situation: Situation): boolean {
  const rule = situation.collection.rules.list;
  if (situation.audience !== 'client' || rule === null) return true;
  return rule !== '' && evaluate(parse(rule), { ...situation, audience: 'rule' });
}

function requestValue(operand: Extract<Operand, { kind: 'request' }>, situation: Situation): Side {
  const { request, collection, record } = situation;
  const [part, name = '', ...keys] = operand.segments;
  if (part === 'method') return modified({ value: request.method, type: 'text' }, operand.modifier);
  if (part === 'auth') {
    const value = memberOf(request.auth, name) ?? null;
    const type = name === 'verified' ? 'bool' : 'text';
    return { ...modified({ value, type }, operand.modifier), isGuests: value === null };
  }
  const isSet =
    part === 'body'
      ? Object.hasOwn(request.body ?? {}, name)
      : (request[part === 'query' ? 'query' : 'header'](name) ?? null) !== null;
  const raw =
    part === 'body'
      ? [name, ...keys].reduce(memberOf, request.body)
      : request[part === 'query' ? 'query' : 'header'](name);
  const value = raw ?? null;
  if (operand.modifier === 'isset') return { value: isSet, type: 'bool' };
  if (operand.modifier === 'changed')
    return { value: isSet && jsonText(value) !== jsonText(record[name] ?? null), type: 'bool' };
  if (operand.modifier === 'lower') return modified({ value, type: undefined }, 'lower');
  if (part !== 'body' || keys.length > 0) return { value, type: undefined };
  const field = fieldOf(collection, name);
  return { value, type: undefined, leaning: field ? typeOfField(field, name) : name === 'id' ? 'text' : undefined };
}
