import { z } from 'zod';
import { type FieldType, ValueRefusal } from '../field-type.ts';
import { compileLengths, lengthNarrowings, lengthOptions, lengthSchema } from './character-lengths.ts';
import { isStorable } from './storable.ts';
import { storedText } from './stored-text.ts';

const options = z.strictObject({ max: lengthOptions.max });

/** A text in HTML, stored as it is written. A program that shows it has to make it safe. */
export const editor: FieldType = {
  name: 'editor',
  reference: 'fields §3.12',
  options,
  samples: [{ values: ['<p>bold</p>', ''] }],
  ...storedText,
  viewType: 'editor',
  valueSchema: () => ({ type: 'string', contentMediaType: 'text/html' }),
  writtenSchema: (field) => ({
    type: 'string',
    contentMediaType: 'text/html',
    ...lengthSchema(field.options as z.output<typeof options>),
  }),
  compile(field) {
    const findLengthProblem = compileLengths(field.options as z.output<typeof options>);
    return (value) => {
      if (typeof value !== 'string') return new ValueRefusal('must be a string');
      if (!isStorable(value)) return new ValueRefusal('must not contain NUL or half a surrogate pair');
      return findLengthProblem(value) ?? value;
    };
  },
  narrowings: (before, after, column) =>
    lengthNarrowings(before.options as z.output<typeof options>, after.options as z.output<typeof options>, column),
};
