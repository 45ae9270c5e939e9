import type { Collection } from './collection.ts';
import type { Field } from './field.ts';
import { fieldTypeOf } from './fields/index.ts';
import { columnsOfIndex } from './indexes.ts';
import { quoteIdentifier } from './naming.ts';

/** Returns the SQL expression that a unique field compares (fields §2.6). */
export const comparedValue = (field: Field): string => comparedBy(field, quoteIdentifier(field.name));

/** Returns the SQL expression by which a unique field compares a value (SQL). */
export const comparedBy = (field: Field, value: string): string =>
  fieldTypeOf(field).uniqueSql?.(value, field) ?? value;

/** Whether both definitions compare values alike, whatever the fields' names. */
export const isComparedAlike = (one: Field, other: Field): boolean => comparedBy(one, 'x') === comparedBy(other, 'x');

/** Returns the SQL condition for the rows whose value a unique field compares. */
export function hasComparableValue(field: Field): string {
  const column = quoteIdentifier(field.name);
  return isText(field) ? `${column} <> ''` : `${column} is not null`;
}

/** Whether the column's SQL type is text, so that the empty text counts as no value. */
export const isText = (field: Field): boolean => fieldTypeOf(field).columnType(field).startsWith('text');

/** Whether the field's values must be unique. */
export const isUnique = (field: Field): boolean => field.options.unique === true;

/**
 * Finds the fields with these names if their values are unique together: a unique field, or a unique index's columns in
 * any order.
 */
export function findUniqueFields(collection: Collection, names: readonly string[]): readonly Field[] | undefined {
  const fields = collection.fields.filter(({ name }) => names.includes(name));
  if (fields.length !== names.length || fields.length === 0) return undefined;
  const [first] = fields;
  const isKey =
    (fields.length === 1 && first && isUnique(first)) ||
    collection.indexes?.some((index) => index.unique && isSame(columnsOfIndex(collection, index), names));
  return isKey ? fields : undefined;
}

const isSame = (columns: readonly string[], names: readonly string[]): boolean =>
  columns.length === names.length && columns.every((name) => names.includes(name));
