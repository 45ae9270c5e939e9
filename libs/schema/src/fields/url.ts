import { type FieldType, ValueRefusal } from '../field-type.ts';
import { compileLengths, lengthNarrowings, lengthSchema } from './character-lengths.ts';
import { isStorable } from './storable.ts';
import { type FormattedTextOptions, formattedTextOptions, storedText } from './stored-text.ts';
import { findUniqueProblem, uniqueNarrowings } from './unique-text.ts';

const shape = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s\p{Cc}]+$/u;

/** A web address, stored as it is written. The empty text is a value without a format (fields §2.2). */
export const url: FieldType = {
  name: 'url',
  reference: 'fields §3.5',
  options: formattedTextOptions,
  samples: [{ values: ['https://example.org/a?b=c#d', ''] }],
  ...storedText,
  viewType: 'url',
  valueSchema: () => ({ type: 'string' }),
  writtenSchema: (field) => ({
    type: 'string',
    format: 'uri',
    ...lengthSchema(field.options as FormattedTextOptions),
  }),
  compile(field) {
    const { unique, ...lengths } = field.options as FormattedTextOptions;
    const findLengthProblem = compileLengths(lengths);
    return (value) => {
      if (value === '') return value;
      if (typeof value !== 'string') return new ValueRefusal('must be a string');
      if (!shape.test(value) || !isStorable(value) || !URL.canParse(value))
        return new ValueRefusal('must be an address that starts with http:// or https://');
      return findLengthProblem(value) ?? (unique ? findUniqueProblem(value) : undefined) ?? value;
    };
  },
  narrowings(before, after, column) {
    const old = before.options as FormattedTextOptions;
    const now = after.options as FormattedTextOptions;
    return [...lengthNarrowings(old, now, column), ...uniqueNarrowings(old, now, column)];
  },
};
