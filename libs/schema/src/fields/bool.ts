import { z } from 'zod';
import { type FieldType, Refusal } from '../field-type.ts';

/** True or false. */
export const bool: FieldType = {
  name: 'bool',
  options: z.strictObject({}),
  emptyTextIsNull: true,
  columnType: () => 'boolean',
  valueSchema: () => ({ type: 'boolean' }),
  compile: () => (value) => (typeof value === 'boolean' ? value : new Refusal('must be true or false')),
};
