import type { Collection } from './collection.ts';
import type { Field } from './field.ts';

/** The given part of a test field. The rest is completed like an admin's definition. */
export type TestField = Pick<Field, 'name'> & Partial<Field>;

/** A base collection in the cache, for tests. The collection and its fields have their names as ids. */
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
