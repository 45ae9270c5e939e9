import { z } from 'zod';
import { emailAddress } from '../email-address.ts';
import { type FieldType, Refusal } from '../field-type.ts';

const options = z.strictObject({
  min: z.int('must be a whole number').min(0, 'must not be negative').optional(),
  max: z.int('must be a whole number').min(1, 'must be at least 1').optional(),
  unique: z.boolean('must be true or false').default(false),
});

/** An e-mail address, stored without spaces around it. */
export const email: FieldType = {
  name: 'email',
  options,
  emptyTextIsNull: false,
  columnType: () => 'text',
  compile(field) {
    const { min = 0, max = Number.POSITIVE_INFINITY } = field.options as z.output<typeof options>;
    return (value) => {
      if (value === '') return value;
      const read = emailAddress.safeParse(value);
      if (!read.success) return new Refusal(read.error.issues[0]?.message ?? 'is not an address');
      const { length } = [...read.data];
      if (length < min) return new Refusal(`must have at least ${min} characters`);
      if (length > max) return new Refusal(`must have at most ${max} characters`);
      return read.data;
    };
  },
};
