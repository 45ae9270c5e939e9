import { z } from 'zod';
import { type FieldType, type Narrowing, ValueRefusal } from '../field-type.ts';
import { numberText } from './form-text.ts';
import { notWhole, numberOperators } from './number-operators.ts';

const options = z
  .strictObject({
    min: z.number('must be a number').optional(),
    max: z.number('must be a number').optional(),
    integer: z.boolean('must be true or false').default(false),
    unique: z.boolean('must be true or false').default(false),
  })
  .refine(({ min, max }) => min === undefined || max === undefined || min <= max, {
    path: ['min'],
    message: 'must not be above max',
  });

/** A double-precision number. With `integer` it has no fraction. */
export const number: FieldType = {
  name: 'number',
  reference: 'fields §3.2',
  options,
  samples: [{ values: [4.5, 0, -1.5, 1e300] }, { options: { min: -5, max: 5, integer: true }, values: [-5, 5] }],
  emptyTextIsNull: true,
  columnType: () => 'double precision',
  filterKind: () => 'number',
  viewType: 'number',
  formText: () => numberText,
  valueSchema: (field) => ({ type: field.options.integer ? 'integer' : 'number' }),
  writtenSchema(field) {
    const { min, max } = field.options as z.output<typeof options>;
    return {
      ...number.valueSchema(field),
      ...(min !== undefined && { minimum: min }),
      ...(max !== undefined && { maximum: max }),
    };
  },
  compile(field) {
    const { min, max, integer } = field.options as z.output<typeof options>;
    return (value) => {
      if (typeof value !== 'number' || !Number.isFinite(value)) return new ValueRefusal('must be a number');
      if (integer && !Number.isInteger(value)) return new ValueRefusal(notWhole);
      if (min !== undefined && value < min) return new ValueRefusal(`must be at least ${min}`);
      if (max !== undefined && value > max) return new ValueRefusal(`must be at most ${max}`);
      return value;
    };
  },
  operators: (field) => numberOperators(field.options as z.output<typeof options>),
  narrowings(before, after, column) {
    const old = before.options as z.output<typeof options>;
    const { min, max, integer } = after.options as z.output<typeof options>;
    const narrowings: Narrowing[] = [];
    if (min !== undefined && !(old.min !== undefined && old.min >= min))
      narrowings.push({ option: 'min', where: `${column} < '${min}'::double precision` });
    if (max !== undefined && !(old.max !== undefined && old.max <= max))
      narrowings.push({ option: 'max', where: `${column} > '${max}'::double precision` });
    if (integer && !old.integer) narrowings.push({ option: 'integer', where: `${column} <> trunc(${column})` });
    return narrowings;
  },
};
