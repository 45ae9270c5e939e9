import type { Field } from './field.ts';
import { fieldTypes } from './fields/index.ts';

/**
 * Whether every record of a collection has a value of the field: a required field, a list that is empty without entries
 * (fields §2.3), and `verified` of accounts. A view may show fields of a missing record.
 */
export function isNeverNull(collectionType: string, field: Field): boolean {
  if (collectionType === 'view') return false;
  const isEmptyList = (fieldTypes.get(field.type)?.emptyValue?.(field) ?? null) !== null;
  return field.required || isEmptyList || (collectionType === 'auth' && field.name === 'verified');
}
