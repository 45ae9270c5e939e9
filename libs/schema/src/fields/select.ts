import { z } from 'zod';
import { type FieldType, Refusal } from '../field-type.ts';
import { isStorable } from './storable.ts';

const options = z.strictObject({
  values: z.array(
    z.string('must be a string').min(1, 'must not be empty').refine(isStorable, 'must not contain NUL'),
    'must be a list of the values to choose from',
  ),
  multiple: z.boolean('must be true or false').default(false),
});

/** One of a list of values, or several. An empty list rejects every write (interface §2.2). */
export const select: FieldType = {
  name: 'select',
  options,
  emptyTextIsNull: true,
  columnType: (field) => (field.options.multiple ? 'jsonb' : 'text'),
  compile(field) {
    const { values, multiple } = field.options as z.output<typeof options>;
    const allowed = new Set<unknown>(values);
    const refusal = new Refusal(values.length ? `must be one of ${values.join(', ')}` : 'has no value to choose from');
    if (!multiple) return (value) => (allowed.has(value) ? value : refusal);
    return (value) => {
      if (!Array.isArray(value)) return new Refusal('must be a list');
      return value.every((item) => allowed.has(item)) ? JSON.stringify([...new Set(value)]) : refusal;
    };
  },
};
