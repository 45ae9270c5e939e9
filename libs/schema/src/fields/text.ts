import type { JsonSchema } from '@recordbus/shared/http';
import { RE2JS } from 're2js';
import { z } from 'zod';
import { type FieldType, type Narrowing, Refusal } from '../field-type.ts';
import { compileLengths, hasRoom, lengthNarrowings, lengthOptions, lengthSchema, noRoom } from './character-lengths.ts';
import { encryptionOption, isComparable, notComparable } from './encryption.ts';
import { isStorable } from './storable.ts';
import { findUniqueProblem, uniqueNarrowings } from './unique-text.ts';

/** The time of a match grows with the length of the pattern times that of the text. */
const maxPatternLength = 1000;

const options = z
  .strictObject({
    ...lengthOptions,
    pattern: z
      .string('must be a string')
      .max(maxPatternLength, `must have at most ${maxPatternLength} characters`)
      .refine(isStorable, 'must not contain NUL or half a surrogate pair')
      .refine((source) => compilePattern(source) !== undefined, 'is not a regular expression that runs in linear time')
      .optional(),
    unique: z.boolean('must be true or false').default(false),
    ...encryptionOption,
  })
  .refine(hasRoom, noRoom)
  .refine(isComparable, notComparable);

/** Text; lengths count characters (code points), the pattern is searched, not anchored. */
export const text: FieldType = {
  name: 'text',
  options,
  emptyTextIsNull: false,
  columnType: () => 'text',
  valueSchema: () => ({ type: 'string' }),
  writtenSchema(field) {
    const { pattern, ...lengths } = field.options as z.output<typeof options>;
    return { type: 'string', ...lengthSchema(lengths), ...(pattern !== undefined && patternSchema(pattern)) };
  },
  compile(field) {
    const { pattern, unique, ...lengths } = field.options as z.output<typeof options>;
    const findLengthProblem = compileLengths(lengths);
    const expression = pattern === undefined ? undefined : compilePattern(pattern);
    return (value) => {
      if (typeof value !== 'string') return new Refusal('must be a string');
      if (!isStorable(value)) return new Refusal('must not contain NUL or half a surrogate pair');
      // An optional field left empty has nothing to measure (contract §8); a required one never gets here empty.
      if (value === '') return value;
      const problem = findLengthProblem(value) ?? (unique ? findUniqueProblem(value) : undefined);
      if (problem) return problem;
      if (expression && !expression.matcher(value).find()) return new Refusal(`must match ${pattern}`);
      return value;
    };
  },
  narrowings(before, after, column) {
    const old = before.options as z.output<typeof options>;
    const now = after.options as z.output<typeof options>;
    const { pattern } = now;
    const narrowings: Narrowing[] = [...lengthNarrowings(old, now, column), ...uniqueNarrowings(old, now, column)];
    if (pattern !== undefined && pattern !== old.pattern)
      narrowings.push({ option: 'pattern', where: `${column} <> ''`, refuses: doesNotMatch(pattern) });
    return narrowings;
  },
};

function doesNotMatch(pattern: string): (value: unknown) => boolean {
  const expression = compilePattern(pattern);
  return (value) => typeof value === 'string' && !expression?.matcher(value).find();
}

/** JSON Schema reads patterns as ECMAScript does (§6.3.3): those that only RE2 understands are told in words. */
function patternSchema(pattern: string): JsonSchema {
  try {
    return { pattern: new RegExp(pattern, 'u').source };
  } catch {
    return { description: `matches ${pattern} (RE2)` };
  }
}

/** RE2 semantics: no back-references and no look-around, so no text can make the match take more than linear time. */
function compilePattern(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source);
  } catch {
    return undefined;
  }
}
