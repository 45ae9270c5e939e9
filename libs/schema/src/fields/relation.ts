import { z } from 'zod';
import type { Field } from '../field.ts';
import { type FieldType, type ValueReader, ValueRefusal } from '../field-type.ts';
import { listText, plainText } from './form-text.ts';
import { type ListMax, listMaxOf, listMaxOption, listNarrowings } from './list-max.ts';
import { listOf } from './list-of.ts';
import { listOperators } from './list-operators.ts';
import { isStorable } from './storable.ts';

/** What happens to a referring record when its target is deleted (records §7.1). */
const cascades = ['setNull', 'cascade', 'restrict', 'restrictLast'] as const;
export type Cascade = (typeof cascades)[number];

const options = z
  .strictObject({
    cascade: z.enum(cascades, `must be one of ${cascades.join(', ')}`).default('setNull'),
    multiple: z.boolean('must be true or false').default(false),
    max: listMaxOption,
  })
  .refine(({ cascade, multiple }) => cascade !== 'restrictLast' || multiple, {
    path: ['cascade'],
    error: 'must not be restrictLast without multiple',
  });

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
    return field.options.multiple ? listMaxOf(field, 'ids').limit({ ...schema, uniqueItems: true }) : schema;
  },
  compile(field) {
    if (field.options.multiple) return readList(listMaxOf(field, 'ids'));
    // Without the collection's name, which the caller may not know.
    const refusal = new ValueRefusal("must be a record's id");
    return (value) => (isId(value) ? value : refusal);
  },
  operators(field) {
    if (!field.options.multiple) return undefined;
    return listOperators({
      schema: { ...relation.valueSchema(field), uniqueItems: true },
      // An appended id may already be in the list, so only the result's length is checked.
      read: readList(undefined),
      refusals: listMaxOf(field, 'ids').refusals,
    });
  },
  narrowings: listNarrowings,
};

function readList(max: ListMax | undefined): ValueReader {
  const [noList, noIds, notUnique] = ['must be a list', 'must have record ids', 'must have each id once'].map(
    (message) => new ValueRefusal(message),
  );
  return (value) => {
    if (!Array.isArray(value)) return noList;
    if (max?.isExceededBy(value.length)) return max.refusal;
    if (!value.every(isId)) return noIds;
    return new Set(value).size < value.length ? notUnique : JSON.stringify(value);
  };
}
