import { z } from 'zod';
import { type FieldType, ValueRefusal } from '../field-type.ts';
import { boolText } from './form-text.ts';

/** True or false. */
export const bool: FieldType = {
  name: 'bool',
  reference: 'fields §3.3',
  options: z.strictObject({}),
  samples: [{ values: [true, false] }],
  emptyTextIsNull: true,
  columnType: () => 'boolean',
  filterKind: () => 'bool',
  viewType: 'bool',
  formText: () => boolText,
  valueSchema: () => ({ type: 'boolean' }),
  compile: () => (value) => (typeof value === 'boolean' ? value : new ValueRefusal('must be true or false')),
};
