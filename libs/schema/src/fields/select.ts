import { boundedList } from '@recordbus/http/bounded-list';
import { z } from 'zod';
import { type FieldType, ValueRefusal } from '../field-type.ts';
import { quoteLiteral } from '../naming.ts';
import { listText, plainText } from './form-text.ts';
import { listMaxOf, listMaxOption, listNarrowings } from './list-max.ts';
import { listOf } from './list-of.ts';
import { listOperators } from './list-operators.ts';
import { isStorable } from './storable.ts';

const options = z.strictObject({
  values: boundedList(
    z
      .string('must be a string')
      .min(1, 'must not be empty')
      .refine(isStorable, 'must not contain NUL or half a surrogate pair'),
    10_000,
    'must be a list of the values to choose from',
  ).refine((values) => new Set(values).size === values.length, 'must not have a value twice'),
  multiple: z.boolean('must be true or false').default(false),
  max: listMaxOption,
});

/** One value from a list, or several. An empty list rejects every value (fields §3.8). */
export const select: FieldType = {
  name: 'select',
  reference: 'fields §3.8',
  options,
  samples: [
    { options: { values: ['red', 'green'] }, values: ['red', 'green'] },
    { options: { values: ['red', 'green'], multiple: true, max: 2 }, values: [['red'], ['green', 'red']] },
  ],
  emptyTextIsNull: true,
  columnType: (field) => (field.options.multiple ? 'jsonb' : 'text'),
  filterKind: (field) => (field.options.multiple ? 'list' : 'text'),
  viewType: 'select',
  formText: (field) => (field.options.multiple ? listText : plainText),
  valueSchema(field) {
    // A view's field may have no values.
    const { values = [] } = field.options as Partial<z.output<typeof options>>;
    return listOf(field, { type: 'string', ...(values.length > 0 && { enum: values }) });
  },
  writtenSchema(field) {
    const schema = select.valueSchema(field);
    return field.options.multiple ? listMaxOf(field, 'values').limit(schema) : schema;
  },
  compile(field) {
    const { values, multiple } = field.options as z.output<typeof options>;
    const allowed = new Set<unknown>(values);
    const refusal = new ValueRefusal(choicesOf(values));
    if (!multiple) return (value) => (allowed.has(value) ? value : refusal);
    const max = listMaxOf(field, 'values');
    return (value) => {
      if (!Array.isArray(value)) return new ValueRefusal('must be a list');
      if (!value.every((item) => allowed.has(item))) return refusal;
      const unique = [...new Set(value)];
      return max.isExceededBy(unique.length) ? max.refusal : JSON.stringify(unique);
    };
  },
  operators(field) {
    if (!field.options.multiple) return undefined;
    return listOperators({
      schema: select.valueSchema(field),
      // An appended value may already be in the list, so only the result's length is checked.
      read: select.compile({ ...field, options: { ...field.options, max: 0 } }),
      refusals: listMaxOf(field, 'values').refusals,
    });
  },
  narrowings(before, after, column) {
    const old = before.options as z.output<typeof options>;
    const { values } = after.options as z.output<typeof options>;
    const narrowings = listNarrowings(before, after, column);
    const kept = new Set(values);
    if (old.values.some((value) => !kept.has(value)))
      narrowings.push({ option: 'values', where: isOutside(column, values, old.multiple) });
    return narrowings;
  },
};

/** How many characters a refusal spends on values. A field may have a megabyte of them. */
const maxNamed = 500;

/** Lists the values, or the first ones if they are many. */
function choicesOf(values: readonly string[]): string {
  if (values.length === 0) return 'has no value to choose from';
  const all = values.join(', ');
  if (all.length <= maxNamed) return `must be one of ${all}`;
  // The last one may be cut within a value.
  const named = all.slice(0, maxNamed).split(', ').slice(0, -1);
  return `must be one of ${[...named, '…'].join(', ')} (${values.length} values)`;
}

function isOutside(column: string, values: readonly string[], isList: boolean): string {
  if (isList) return `not ${column} <@ ${quoteLiteral(JSON.stringify(values))}::jsonb`;
  return values.length > 0 ? `${column} not in (${values.map(quoteLiteral).join(', ')})` : `${column} is not null`;
}
