import { maxSeconds, readDateText } from '@recordbus/text/date-text';
import type { Literal } from '../language/ast.ts';
import { QueryError } from '../query-error.ts';
import type { Constant, Scalar } from './resolved.ts';

/** A literal other than null. */
export type Value = Exclude<Literal, { kind: 'null' }>;

const decimal = /^-?[0-9]+(\.[0-9]+)?$/;

/**
 * Reads a literal as the other side's kind (filters §6.1): `n = "5"`, `ok = 1` and `title = 5` are fine. Throws
 * QueryError for a literal that cannot be read so.
 */
export function readLiteral(literal: Value, kind: Scalar): Constant {
  const value = valueAs[kind](literal);
  if (value === undefined)
    throw new QueryError(
      `${literal.kind === 'text' ? JSON.stringify(literal.value) : plainText(literal)} cannot be read as ${nameOf(kind, literal)}`,
      literal.position,
    );
  return { source: 'constant', kind, value };
}

const names: Readonly<Record<Scalar, string>> = {
  text: 'text',
  number: 'a number',
  date: 'unix seconds or a date',
  bool: 'true or false',
  json: 'JSON',
};

/** Only a number is too large for a date. */
const nameOf = (kind: Scalar, literal: Value): string =>
  kind === 'date' && readNumber(plainText(literal)) !== undefined ? 'unix seconds: milliseconds?' : names[kind];

const valueAs: Readonly<Record<Scalar, (literal: Value) => Constant['value'] | undefined>> = {
  text: (literal) => plainText(literal),
  number: (literal) => (literal.kind === 'bool' ? undefined : readNumber(plainText(literal))),
  date: (literal) => (literal.kind === 'bool' ? undefined : readDate(plainText(literal))),
  bool: (literal) => (literal.kind === 'bool' ? literal.value : readBool(plainText(literal))),
  json: (literal) => JSON.stringify(literal.kind === 'number' ? Number(literal.digits) : literal.value),
};

function plainText(literal: Value): string {
  if (literal.kind === 'number') return literal.digits;
  return String(literal.value);
}

/** Reads a number in the language; undefined for any other text. */
export function readNumber(text: string): number | undefined {
  const value = Number(text);
  return decimal.test(text) && Number.isFinite(value) ? value : undefined;
}

/** Reads unix seconds, or a text that a write takes as a date (filters §6.2); undefined for any other. */
export function readDate(text: string): number | undefined {
  const seconds = readNumber(text);
  if (seconds === undefined) return readDateText(text);
  return Math.abs(seconds) <= maxSeconds ? seconds : undefined;
}

/** Reads true and false by name or as 1 and 0; undefined for any other text. */
export function readBool(text: string | undefined): boolean | undefined {
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}
