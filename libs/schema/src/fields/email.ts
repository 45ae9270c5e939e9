import { z } from 'zod';
import { accountAddress, emailAddress } from '../email-address.ts';
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

const options = z
  .strictObject({ ...lengthOptions, unique: z.boolean('must be true or false').default(false), ...encryptionOption })
  .refine(isOrdered, notOrdered)
  .refine(isComparable, notComparable);

/**
 * An e-mail address, stored as it is written, that of an account without the spaces around it. The empty text is a value
 * without a format (fields §2.2).
 */
export const email: FieldType = {
  name: 'email',
  reference: 'fields §3.4',
  options,
  samples: [{ values: ['name@example.com', ''] }],
  emptyTextIsNull: false,
  columnType: () => 'text',
  filterKind: () => 'text',
  viewType: 'email',
  formText: () => plainText,
  uniqueSql: (column) => `lower(${column})`,
  valueSchema: () => ({ type: 'string' }),
  writtenSchema: (field) => ({
    type: 'string',
    format: 'email',
    ...lengthSchema(field.options as z.output<typeof options>),
  }),
  compile(field) {
    const findLengthProblem = compileLengths(field.options as z.output<typeof options>);
    const schema = field.system ? accountAddress : emailAddress;
    return (value) => {
      if (value === '') return value;
      const read = schema.safeParse(value);
      if (!read.success) return new Refusal(read.error.issues[0]?.message ?? 'is not an address');
      return findLengthProblem(read.data) ?? read.data;
    };
  },
  narrowings: (before, after, column) =>
    lengthNarrowings(before.options as z.output<typeof options>, after.options as z.output<typeof options>, column),
};
