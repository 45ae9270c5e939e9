import type { Collection, Field } from '@recordbus/schema';

/** What a test says of a field; the rest is as an admin's definition would be completed. */
export type TestField = Pick<Field, 'name'> & Partial<Field>;

/** A public base collection as the cache would give it. Its id is its name, as are those of its fields. */
export const testCollection = (
  name: string,
  fields: readonly TestField[],
  rest: Partial<Collection> = {},
): Collection => ({
  id: name,
  name,
  type: 'base',
  fields: fields.map((field) => ({
    id: field.name,
    type: 'text',
    required: false,
    system: false,
    options: field.type === 'relation' ? { cascade: 'setNull' } : {},
    ...field,
  })),
  viewQuery: null,
  rules: { list: null, view: null, create: null, update: null, delete: null },
  historyEnabled: false,
  createdAtSec: 1_700_000_000,
  updatedAtSec: 1_700_000_000,
  ...rest,
});
