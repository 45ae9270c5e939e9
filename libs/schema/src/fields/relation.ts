import { z } from 'zod';
import { type FieldType, Refusal } from '../field-type.ts';
import { isStorable } from './storable.ts';

/** What happens to the referring record when the one it refers to is deleted (interface §2.2, rule 4). */
const cascades = ['setNull', 'cascade', 'restrict'] as const;
export type Cascade = (typeof cascades)[number];

/** No id is longer: ids are UUIDs, those of imported views may be any short text. */
const maxIdLength = 255;

/** The id of a record in another collection. That it exists is the foreign key's to say, in the writing statement. */
export const relation: FieldType = {
  name: 'relation',
  options: z.strictObject({ cascade: z.enum(cascades, `must be one of ${cascades.join(', ')}`).default('setNull') }),
  refersToCollection: true,
  emptyTextIsNull: true,
  columnType: () => 'text collate "C"',
  valueSchema: ({ collection }) => ({ type: 'string', description: `id of a record of ${collection}` }),
  compile(field) {
    const refusal = new Refusal(`must be the id of a record in ${field.collection}`);
    return (value) => (typeof value === 'string' && value.length <= maxIdLength && isStorable(value) ? value : refusal);
  },
};
