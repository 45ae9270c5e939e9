import { z } from 'zod';
import type { Field } from '../field.ts';
import { type FieldType, type Narrowing, type ValueReader, ValueRefusal } from '../field-type.ts';
import { listText, plainText } from './form-text.ts';
import { listOf } from './list-of.ts';
import { listOperators } from './list-operators.ts';
import { isStorable } from './storable.ts';

/** What happens to a referring record when its target is deleted (records §7.1). */
const cascades = ['setNull', 'cascade', 'restrict'] as const;
export type Cascade = (typeof cascades)[number];

const options = z.strictObject({
  cascade: z.enum(cascades, `must be one of ${cascades.join(', ')}`).default('setNull'),
  multiple: z.boolean('must be true or false').default(false),
  /** How many ids a list may have; 0 means no limit. */
  max: z.int('must be a whole number').min(0, 'must be a whole number').default(0),
});

type RelationOptions = z.output<typeof options>;

/** No id is longer: ids are UUIDs, a view's may be any short text. */
const maxIdLength = 255;

const isId = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && value.length <= maxIdLength && isStorable(value);

/** Whether the field is a relation that holds a list of ids. A link table has the ids too. */
export const holdsRelations = ({ type, options: { multiple } }: Pick<Field, 'type' | 'options'>): boolean =>
  type === 'relation' && multiple === true;

/**
 * A record's id in another collection, or a list of such ids. Foreign keys check that they exist, in the writing
 * statement.
 */
export const relation: FieldType = {
  name: 'relation',
  reference: 'fields §3.9',
  options,
  samples: [{ values: [] }, { options: { multiple: true }, values: [] }],
  refersToCollection: true,
  emptyTextIsNull: true,
  columnType: (field) => (field.options.multiple ? 'jsonb' : 'text collate "C"'),
  filterKind: (field) => (field.options.multiple ? 'list' : 'text'),
  viewType: 'relation',
  formText: (field) => (field.options.multiple ? listText : plainText),
  // Without targets the list is empty, not null (fields §2.3).
  emptyValue: (field) => (field.options.multiple ? '[]' : null),
  valueSchema(field) {
    const { collection } = field;
    const description = collection === undefined ? 'a record id' : `id of a record in ${collection}`;
    return listOf(field, { type: 'string', description });
  },
  writtenSchema(field) {
    const schema = relation.valueSchema(field);
    const { multiple, max } = field.options as RelationOptions;
    return multiple ? { ...schema, uniqueItems: true, ...(max > 0 && { maxItems: max }) } : schema;
  },
  compile(field) {
    const { multiple, max } = field.options as RelationOptions;
    if (multiple) return readList(max);
    // Without the collection's name, which the caller may not know.
    const refusal = new ValueRefusal("must be a record's id");
    return (value) => (isId(value) ? value : refusal);
  },
  operators(field) {
    const { multiple, max } = field.options as RelationOptions;
    if (!multiple) return undefined;
    const tooLong = (list: string) => ({ where: `jsonb_array_length(${list}) > ${max}`, message: atMost(max) });
    return listOperators({
      schema: { ...relation.valueSchema(field), uniqueItems: true },
      // An appended id may already be in the list, so only the result's length is checked.
      read: readList(0),
      refusals: (list) => (max > 0 ? [tooLong(list)] : []),
    });
  },
  narrowings(before, after, column) {
    const old = before.options as RelationOptions;
    const { multiple, max } = after.options as RelationOptions;
    const longerThan = (option: string, length: number): Narrowing => ({
      option,
      where: `jsonb_array_length(${column}) > ${length}`,
    });
    if (!old.multiple) return [];
    if (!multiple) return [longerThan('multiple', 1)];
    return max > 0 && (old.max === 0 || max < old.max) ? [longerThan('max', max)] : [];
  },
};

const atMost = (max: number): string => `must have at most ${max} ids`;

function readList(max: number): ValueReader {
  const [noList, noIds, notUnique, tooMany] = [
    'must be a list',
    'must have record ids',
    'must have each id once',
    atMost(max),
  ].map((message) => new ValueRefusal(message));
  return (value) => {
    if (!Array.isArray(value)) return noList;
    if (max > 0 && value.length > max) return tooMany;
    if (!value.every(isId)) return noIds;
    return new Set(value).size < value.length ? notUnique : JSON.stringify(value);
  };
}
