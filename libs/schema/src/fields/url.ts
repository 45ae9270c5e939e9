import { z } from 'zod';
import { type FieldType, Refusal } from '../field-type.ts';
import {
  compileLengths,
  isOrdered,
  lengthNarrowings,
  lengthOptions,
  lengthSchema,
  notOrdered,
} from './character-lengths.ts';
import { encryptionOption, isComparable, notComparable } from './encryption.ts';
import { plainText } from './form-text.ts';
import { isStorable } from './storable.ts';
import { findUniqueProblem, uniqueNarrowings } from './unique-text.ts';

const options = z
  .strictObject({ ...lengthOptions, unique: z.boolean('must be true or false').default(false), ...encryptionOption })
  .refine(isOrdered, notOrdered)
  .refine(isComparable, notComparable);

const shape = /^https?:\/\/[^\s\p{Cc}]+$/u;

/** A web address, stored as it is written. The empty text is a value without a format (fields §2.2). */
export const url: FieldType = {
  name: 'url',
  reference: 'fields §3.5',
  options,
  samples: [{ values: ['https://example.org/a?b=c#d', ''] }],
  emptyTextIsNull: false,
  columnType: () => 'text',
  filterKind: () => 'text',
  viewType: 'url',
  formText: () => plainText,
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
