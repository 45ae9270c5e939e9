import { z } from 'zod';
import { type FieldType, ValueRefusal } from '../field-type.ts';
import { jsonText } from './form-text.ts';

const maxDimensions = 4096;
const wholeDimensions = `must be a whole number from 1 to ${maxDimensions}`;

const options = z.strictObject({
  dimensions: z.int(wholeDimensions).min(1, wholeDimensions).max(maxDimensions, wholeDimensions),
});

/** As many finite numbers as the field has dimensions, returned exactly as written. */
export const vector: FieldType = {
  name: 'vector',
  reference: 'fields §3.14',
  options,
  samples: [{ options: { dimensions: 3 }, values: [[1, -0.5, 0]] }],
  emptyTextIsNull: true,
  columnType: () => 'double precision[]',
  filterKind: () => 'vector',
  viewType: 'vector',
  formText: () => jsonText,
  valueSchema: () => ({ type: 'array', items: { type: 'number' } }),
  writtenSchema(field) {
    const { dimensions } = field.options as z.output<typeof options>;
    return { type: 'array', items: { type: 'number' }, minItems: dimensions, maxItems: dimensions };
  },
  compile(field) {
    const { dimensions } = field.options as z.output<typeof options>;
    return (value) => {
      if (!Array.isArray(value)) return new ValueRefusal('must be a list of numbers');
      if (value.length !== dimensions) return new ValueRefusal(`must have ${dimensions} numbers`);
      return value.every(Number.isFinite) ? `{${value.join(',')}}` : new ValueRefusal('must consist of finite numbers');
    };
  },
  narrowings(before, after, column) {
    const { dimensions } = after.options as z.output<typeof options>;
    if (dimensions === before.options.dimensions) return [];
    return [{ option: 'dimensions', where: `cardinality(${column}) <> ${dimensions}` }];
  },
};
