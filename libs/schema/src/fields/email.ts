import { accountAddress, emailAddress } from '../email-address.ts';
import { type FieldType, ValueRefusal } from '../field-type.ts';
import { compileLengths, lengthNarrowings, lengthSchema } from './character-lengths.ts';
import { type FormattedTextOptions, formattedTextOptions, storedText } from './stored-text.ts';

/**
 * An e-mail address, stored as it is written; an account's in its canonical form. The empty text is a value without a
 * format (fields §2.2).
 */
export const email: FieldType = {
  name: 'email',
  reference: 'fields §3.4',
  options: formattedTextOptions,
  samples: [{ values: ['name@example.com', ''] }],
  ...storedText,
  viewType: 'email',
  uniqueSql: (column) => `lower(${column})`,
  valueSchema: () => ({ type: 'string' }),
  writtenSchema: (field) => ({
    type: 'string',
    format: 'email',
    ...lengthSchema(field.options as FormattedTextOptions),
  }),
  compile(field) {
    const findLengthProblem = compileLengths(field.options as FormattedTextOptions);
    const schema = field.system ? accountAddress : emailAddress;
    return (value) => {
      if (value === '') return value;
      const read = schema.safeParse(value);
      if (!read.success) return new ValueRefusal(read.error.issues[0]?.message ?? 'is not an address');
      return findLengthProblem(read.data) ?? read.data;
    };
  },
  narrowings: (before, after, column) =>
    lengthNarrowings(before.options as FormattedTextOptions, after.options as FormattedTextOptions, column),
};
