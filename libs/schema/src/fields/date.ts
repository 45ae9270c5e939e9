import { readDateValue } from '@recordbus/text/date-text';
import { z } from 'zod';
import { type FieldType, ValueRefusal } from '../field-type.ts';
import { secondsText } from './form-text.ts';

/** A time, stored as unix seconds. A client writes unix seconds or a date as text (fields §3.6). */
export const date: FieldType = {
  name: 'date',
  reference: 'fields §3.6',
  options: z.strictObject({}),
  samples: [{ values: [1767225600, 0, -1] }],
  emptyTextIsNull: true,
  columnType: () => 'bigint',
  filterKind: () => 'date',
  viewType: 'date',
  formText: () => secondsText,
  valueSchema: () => ({ type: 'integer', description: 'unix seconds' }),
  writtenSchema: () => ({
    type: ['integer', 'string'],
    description: 'unix seconds, or a date as text',
    examples: [1767225600, '2026-01-01T00:00:00Z'],
  }),
  compile: () => (value) => {
    const read = readDateValue(value);
    return typeof read === 'string' ? new ValueRefusal(read) : read;
  },
};
