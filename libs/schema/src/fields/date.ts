import { z } from 'zod';
import { type FieldType, ValueRefusal } from '../field-type.ts';
import { secondsText } from './form-text.ts';

/** The largest distance from 1970 that a Date can represent (ECMA-262 §21.4.1.1), in seconds. */
const maxSeconds = 8.64e12;

/** Longer than any text of a date. */
const maxTextLength = 100;

const notADate = new ValueRefusal('must be unix seconds or a date');

/** A time, stored as unix seconds. A client writes unix seconds or any text that Date.parse reads. */
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
    if (typeof value === 'string' && value.length > maxTextLength) return notADate;
    const seconds = typeof value === 'string' ? Date.parse(value) / 1000 : value;
    if (typeof seconds !== 'number' || !(Math.abs(seconds) <= maxSeconds)) return notADate;
    return Math.floor(seconds);
  },
};
