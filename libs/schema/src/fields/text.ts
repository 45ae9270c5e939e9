import { RE2JS } from 're2js';
import { z } from 'zod';
import { type FieldType, type Narrowing, Refusal } from '../field-type.ts';
import { isStorable } from './storable.ts';

/** The time of a match grows with the length of the pattern times that of the text. */
const maxPatternLength = 1000;

/** An entry of a B-tree holds a third of a page (2,704 bytes) and something of its own. */
const maxUniqueBytes = 2600;

const options = z
  .strictObject({
    min: z.int('must be a whole number').min(0, 'must not be negative').optional(),
    max: z.int('must be a whole number').min(1, 'must be at least 1').optional(),
    pattern: z
      .string('must be a string')
      .max(maxPatternLength, `must have at most ${maxPatternLength} characters`)
      .refine(isStorable, 'must not contain NUL or half a surrogate pair')
      .refine((source) => compilePattern(source) !== undefined, 'is not a regular expression that runs in linear time')
      .optional(),
    unique: z.boolean('must be true or false').default(false),
  })
  .refine(({ min, max }) => min === undefined || max === undefined || min <= max, {
    path: ['min'],
    message: 'must not be above max',
  });

/** Text; lengths count characters (code points), the pattern is searched, not anchored. */
export const text: FieldType = {
  name: 'text',
  options,
  emptyTextIsNull: false,
  columnType: () => 'text',
  compile(field) {
    const { min = 0, max = Number.POSITIVE_INFINITY, pattern, unique } = field.options as z.output<typeof options>;
    const expression = pattern === undefined ? undefined : compilePattern(pattern);
    return (value) => {
      if (typeof value !== 'string') return new Refusal('must be a string');
      if (!isStorable(value)) return new Refusal('must not contain NUL or half a surrogate pair');
      // An optional field left empty has nothing to measure (contract §8); a required one never gets here empty.
      if (value === '') return value;
      const length = countCharacters(value);
      if (length < min) return new Refusal(`must have at least ${min} characters`);
      if (length > max) return new Refusal(`must have at most ${max} characters`);
      if (unique && Buffer.byteLength(value) > maxUniqueBytes)
        return new Refusal(`must have at most ${maxUniqueBytes} bytes, since it is unique`);
      if (expression && !expression.matcher(value).find()) return new Refusal(`must match ${pattern}`);
      return value;
    };
  },
  narrowings(before, after, column) {
    const old = before.options as z.output<typeof options>;
    const { min = 0, max, pattern, unique } = after.options as z.output<typeof options>;
    const narrowings: Narrowing[] = [];
    if (min > (old.min ?? 0))
      narrowings.push({ option: 'min', where: `${column} <> '' and char_length(${column}) < ${min}` });
    if (max !== undefined && max < (old.max ?? Number.POSITIVE_INFINITY))
      narrowings.push({ option: 'max', where: `char_length(${column}) > ${max}` });
    if (unique && !old.unique)
      narrowings.push({ option: 'unique', where: `octet_length(${column}) > ${maxUniqueBytes}` });
    if (pattern !== undefined && pattern !== old.pattern)
      narrowings.push({ option: 'pattern', where: `${column} <> ''`, refuses: doesNotMatch(pattern) });
    return narrowings;
  },
};

function doesNotMatch(pattern: string): (value: unknown) => boolean {
  const expression = compilePattern(pattern);
  return (value) => typeof value === 'string' && !expression?.matcher(value).find();
}

/** RE2 semantics: no back-references and no look-around, so no text can make the match take more than linear time. */
function compilePattern(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source);
  } catch {
    return undefined;
  }
}

function countCharacters(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}
