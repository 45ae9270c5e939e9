import { z } from 'zod';
import { type FieldType, Refusal } from '../field-type.ts';

/** Largest distance from 1970 that a Date can stand for (ECMA-262 §21.4.1.1), in seconds. */
const maxSeconds = 8.64e12;

/** A point in time, kept as unix seconds; written as such or as any text that Date.parse reads. */
export const date: FieldType = {
  name: 'date',
  options: z.strictObject({}),
  emptyTextIsNull: true,
  columnType: () => 'bigint',
  valueSchema: () => ({ type: 'integer', description: 'unix seconds' }),
  writtenSchema: () => ({
    type: ['integer', 'string'],
    description: 'unix seconds, or a date as text',
    examples: [1767225600, '2026-01-01T00:00:00Z'],
  }),
  compile: () => (value) => {
    const seconds = typeof value === 'string' ? Date.parse(value) / 1000 : value;
    if (typeof seconds !== 'number' || !(Math.abs(seconds) <= maxSeconds))
      return new Refusal('must be unix seconds or a date');
    return Math.floor(seconds);
  },
};
