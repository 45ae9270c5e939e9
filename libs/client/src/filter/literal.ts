import { invalidArgument } from '../error.ts';

/** A value in a filter. */
export type Value = string | number | bigint | boolean | Date | null;

/** Returns the literal for a value, or for a list of values. Throws if the value has no literal. */
export function literalOf(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return textLiteral(value);
  if (typeof value === 'number') return numberLiteral(value);
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Date) return numberLiteral(Math.floor(value.getTime() / 1000));
  if (Array.isArray(value) && value.length > 0) return `(${value.map(literalOf).join(', ')})`;
  throw invalidArgument(
    Array.isArray(value) ? 'A filter cannot hold an empty list.' : `A filter cannot hold a ${typeof value}.`,
  );
}

/** A text in quotes. A backslash means itself unless a quote or another backslash follows (filters §2.3). */
function textLiteral(text: string): string {
  if (text.includes('\0')) throw invalidArgument('A filter cannot hold the character NUL.');
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** A number without an exponent (filters §2.4). */
function numberLiteral(number: number): string {
  if (!Number.isFinite(number)) throw invalidArgument('A filter cannot hold a number that is not finite.');
  const [digits = '', exponent] = String(number).split('e');
  if (exponent === undefined) return digits;
  const sign = number < 0 ? '-' : '';
  const [whole = '', fraction = ''] = digits.replace('-', '').split('.');
  const places = Number(exponent);
  return places > 0
    ? `${sign}${whole}${fraction.padEnd(places, '0')}`
    : `${sign}0.${'0'.repeat(-places - 1)}${whole}${fraction}`;
}
