import { patternSchema } from '@recordbus/http/portable-patterns';
import { z } from 'zod';
import { type FieldType, type Narrowing, ValueRefusal } from '../field-type.ts';
import {
  compileLengths,
  isOrdered,
  lengthNarrowings,
  lengthOptions,
  lengthSchema,
  notOrdered,
} from './character-lengths.ts';
import { encryptionOption, isComparable, notComparable } from './encryption.ts';
import { isStorable } from './storable.ts';
import { storedText } from './stored-text.ts';
import { compileTextPattern, patternOption } from './text-pattern.ts';
import { findUniqueProblem, uniqueNarrowings } from './unique-text.ts';

const options = z
  .strictObject({
    ...lengthOptions,
    pattern: patternOption.optional(),
    unique: z.boolean('must be true or false').default(false),
    ignoreCase: z.boolean('must be true or false').optional(),
    ...encryptionOption,
  })
  .refine(isOrdered, notOrdered)
  .refine(isComparable, notComparable)
  .refine(({ encrypted, ignoreCase }) => !(encrypted && ignoreCase), {
    path: ['ignoreCase'],
    message: 'is not for encrypted fields',
  });

/** Text; lengths count characters (code points), the pattern is searched, not anchored. */
export const text: FieldType = {
  name: 'text',
  reference: 'fields §3.1',
  options,
  samples: [
    { values: ['plain', 'ünd 😀', ''] },
    { options: { min: 2, max: 5, pattern: '^[a-z]+$' }, values: ['ab', 'zzzzz'] },
    { options: { unique: true, ignoreCase: true }, values: ['Ada', 'bob'] },
  ],
  ...storedText,
  viewType: 'text',
  uniqueSql: (column, { options: { ignoreCase } }) => (ignoreCase ? `lower(${column})` : column),
  valueSchema: () => ({ type: 'string' }),
  writtenSchema(field) {
    const { pattern, ...lengths } = field.options as z.output<typeof options>;
    // The empty text needs no match, unless the field is required.
    const accepted = pattern === undefined || field.required ? pattern : `^$|${pattern}`;
    return { type: 'string', ...lengthSchema(lengths), ...(accepted !== undefined && patternSchema(accepted)) };
  },
  compile(field) {
    const { pattern, unique, ...lengths } = field.options as z.output<typeof options>;
    const findLengthProblem = compileLengths(lengths);
    const searched = pattern === undefined ? undefined : compileTextPattern(pattern);
    return (value) => {
      if (typeof value !== 'string') return new ValueRefusal('must be a string');
      if (!isStorable(value)) return new ValueRefusal('must not contain NUL or half a surrogate pair');
      // The empty text has no bounds and no pattern (fields §2.2). A required field refuses it before.
      if (value === '') return value;
      const problem = findLengthProblem(value) ?? (unique ? findUniqueProblem(value) : undefined);
      if (problem) return problem;
      if (!searched) return value;
      if (value.length > searched.maxTextLength)
        return new ValueRefusal(
          `must have at most ${searched.maxTextLength} characters, since it is searched for ${pattern}`,
        );
      if (!searched.isIn(value)) return new ValueRefusal(`must match ${pattern}`);
      return value;
    };
  },
  compileSteps({ options: { pattern } }) {
    if (typeof pattern !== 'string') return undefined;
    const { stepsFor } = compileTextPattern(pattern);
    return (value) => (typeof value === 'string' ? stepsFor(value) : 0);
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
  const { maxTextLength, isIn } = compileTextPattern(pattern);
  return (value) => typeof value === 'string' && (value.length > maxTextLength || !isIn(value));
}
