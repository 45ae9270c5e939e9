import type { Field } from './field.ts';
import { fieldTypes } from './fields/index.ts';

/**
 * Whether every record in a collection has a value in the field: a required field, a list that is empty without entries
 * (fields §2.3), and `verified` in accounts. A view may show a missing record's fields.
 */
export function isNeverNull(collectionType: string, field: Field): boolean {
  if (collectionType === 'view') return false;
  const isEmptyList = (fieldTypes.get(field.type)?.emptyValue?.(field) ?? null) !== null;
  return field.required || isEmptyList || (collectionType === 'auth' && field.name === 'verified');
}
