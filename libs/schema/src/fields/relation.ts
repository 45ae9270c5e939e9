import { z } from 'zod';
import { type FieldType, ValueRefusal } from '../field-type.ts';
import { plainText } from './form-text.ts';
import { isStorable } from './storable.ts';

/** What happens to a referring record when its target is deleted (records §7.1). */
const cascades = ['setNull', 'cascade', 'restrict'] as const;
export type Cascade = (typeof cascades)[number];

/** No id is longer: ids are UUIDs, those of views may be any short text. */
const maxIdLength = 255;

/** The id of a record in another collection. The foreign key checks that it exists, in the writing statement. */
export const relation: FieldType = {
  name: 'relation',
  reference: 'fields §3.9',
  options: z.strictObject({ cascade: z.enum(cascades, `must be one of ${cascades.join(', ')}`).default('setNull') }),
  samples: [{ values: [] }],
  refersToCollection: true,
  emptyTextIsNull: true,
  columnType: () => 'text collate "C"',
  filterKind: () => 'text',
  viewType: 'relation',
  formText: () => plainText,
  valueSchema: ({ collection }) => ({
    type: 'string',
    description: collection === undefined ? 'id of a record' : `id of a record of ${collection}`,
  }),
  compile() {
    // Without the name of the collection, which the caller may not know.
    const refusal = new ValueRefusal('must be the id of a record');
    return (value) => (typeof value === 'string' && value.length <= maxIdLength && isStorable(value) ? value : refusal);
  },
};
