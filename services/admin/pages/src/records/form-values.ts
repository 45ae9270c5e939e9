import type { FieldDefinition } from '@recordbus/client';
import { unreadablePlaces } from '../ui/unreadable.ts';

const isEmpty = (value: unknown): boolean => value === undefined || value === null;
const hasFile = (value: unknown): boolean =>
  value instanceof Blob || (Array.isArray(value) && value.some((one) => one instanceof Blob));

/** Whether two record values are equal. A chosen file never equals a stored one, nor a text that cannot be read. */
export function sameValue(one: unknown, other: unknown): boolean {
  if (one === other || (isEmpty(one) && isEmpty(other))) return true;
  if (hasFile(one) || hasFile(other) || unreadablePlaces({ one, other }).length > 0) return false;
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Returns the values that differ from the record, or from an empty record. */
export const changedValues = (
  fields: readonly FieldDefinition[],
  stored: Readonly<Record<string, unknown>> | undefined,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    fields
      .map(({ name }) => [name, values[name]] as const)
      .filter(([name, value]) => value !== undefined && !sameValue(stored?.[name], value)),
  );

/** Returns the values that a copy of a record starts with. Files stay with their record. */
export const copiedValues = (
  fields: readonly FieldDefinition[],
  record: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap(({ name, type }) => (type === 'file' || type === 'password' ? [] : [[name, record[name]]])),
  );

/** Returns a new record's values: the defaults. */
export const emptyValues = (fields: readonly FieldDefinition[]): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap(({ name, options }) => {
      const value = options?.default;
      return value === undefined || (typeof value === 'string' && value.startsWith('@')) ? [] : [[name, value]];
    }),
  );
