import type { JsonSchema } from './answers.ts';

/**
 * Syntax that engines of other languages read differently from ECMAScript: Unicode properties, named groups,
 * look-behind, flags within a pattern, code points in braces, control letters, empty sets. JSON Schema recommends to
 * avoid it (2020-12 Core §6.4).
 */
const unportable = /\\(?:[pPck]|u(?![0-9A-Fa-f]{4}))|\(\?(?![:=!])|\[\^?\]/;

/** Whether validators in any language read the pattern alike. */
function isPortable(pattern: string): boolean {
  // An escaped backslash does not escape what follows it.
  if (unportable.test(pattern.replaceAll('\\\\', ''))) return false;
  try {
    return new RegExp(pattern, 'u').source !== '';
  } catch {
    return false;
  }
}

/** Returns the part of a JSON Schema for a pattern: in words if some validators could not read the pattern. */
export const patternSchema = (pattern: string): JsonSchema =>
  isPortable(pattern) ? { pattern } : inWords({}, pattern);

/** Schema members whose values are data. */
const dataMembers = new Set(['const', 'default', 'enum', 'example', 'examples']);

/** Replaces the patterns that are not portable by words, in a JSON Schema or a value that contains some. */
export function withPortablePatterns<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withPortablePatterns) as T;
  if (typeof value !== 'object' || value === null) return value;
  const { pattern } = value as JsonSchema;
  const members = typeof pattern === 'string' && !isPortable(pattern) ? inWords(value as JsonSchema, pattern) : value;
  const walked = Object.entries(members).map(([name, member]) => [
    name,
    dataMembers.has(name) ? member : withPortablePatterns(member),
  ]);
  return Object.fromEntries(walked) as T;
}

function inWords({ pattern: _, description, ...rest }: JsonSchema, pattern: string): JsonSchema {
  const words = `matches ${pattern}`;
  return { ...rest, description: description === undefined ? words : `${description}; ${words}` };
}
