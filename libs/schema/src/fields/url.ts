import { z } from 'zod';
import { type FieldType, Refusal } from '../field-type.ts';
import { compileLengths, hasRoom, lengthNarrowings, lengthOptions, lengthSchema, noRoom } from './character-lengths.ts';
import { encryptionOption, isComparable, notComparable } from './encryption.ts';
import { isStorable } from './storable.ts';
import { findUniqueProblem, uniqueNarrowings } from './unique-text.ts';

const options = z
  .strictObject({ ...lengthOptions, unique: z.boolean('must be true or false').default(false), ...encryptionOption })
  .refine(hasRoom, noRoom)
  .refine(isComparable, notComparable);

const shape = /^https?:\/\/[^\s\p{Cc}]+$/u;

/** An address on the web, stored as it is written. The empty text is a value that has no format (contract §8). */
export const url: FieldType = {
  name: 'url',
  options,
  emptyTextIsNull: false,
  columnType: () => 'text',
  valueSchema: () => ({ type: 'string' }),
  writtenSchema: (field) => ({
    type: 'string',
    format: 'uri',
    ...lengthSchema(field.options as z.output<typeof options>),
  }),
  compile(field) {
    const { unique, ...lengths } = field.options as z.output<typeof options>;
    const findLengthProblem = compileLengths(lengths);
    return (value) => {
      if (value === '') return value;
      if (typeof value !== 'string') return new Refusal('must be a string');
      if (!shape.test(value) || !isStorable(value) || !URL.canParse(value))
        return new Refusal('must be an address that starts with http:// or https://');
      return findLengthProblem(value) ?? (unique ? findUniqueProblem(value) : undefined) ?? value;
    };
  },
  narrowings(before, after, column) {
    const old = before.options as z.output<typeof options>;
    const now = after.options as z.output<typeof options>;
    return [...lengthNarrowings(old, now, column), ...uniqueNarrowings(old, now, column)];
  },
};
