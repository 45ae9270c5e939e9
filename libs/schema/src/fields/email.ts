import { z } from 'zod';
import { emailAddress } from '../email-address.ts';
import { type FieldType, Refusal } from '../field-type.ts';
import { compileLengths, hasRoom, lengthNarrowings, lengthOptions, lengthSchema, noRoom } from './character-lengths.ts';
import { encryptionOption, isComparable, notComparable } from './encryption.ts';

const options = z
  .strictObject({ ...lengthOptions, unique: z.boolean('must be true or false').default(false), ...encryptionOption })
  .refine(hasRoom, noRoom)
  .refine(isComparable, notComparable);

/** An e-mail address, stored without spaces around it. The empty text is a value that has no format (contract §8). */
export const email: FieldType = {
  name: 'email',
  options,
  emptyTextIsNull: false,
  columnType: () => 'text',
  valueSchema: () => ({ type: 'string' }),
  writtenSchema: (field) => ({
    type: 'string',
    format: 'email',
    ...lengthSchema(field.options as z.output<typeof options>),
  }),
  compile(field) {
    const findLengthProblem = compileLengths(field.options as z.output<typeof options>);
    return (value) => {
      if (value === '') return value;
      const read = emailAddress.safeParse(value);
      if (!read.success) return new Refusal(read.error.issues[0]?.message ?? 'is not an address');
      return findLengthProblem(read.data) ?? read.data;
    };
  },
  narrowings: (before, after, column) =>
    lengthNarrowings(before.options as z.output<typeof options>, after.options as z.output<typeof options>, column),
};
