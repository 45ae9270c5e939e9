import type { FieldDefinition } from './definition.ts';

const isList = ({ options }: FieldDefinition): boolean => options?.multiple === true;
const listOf = (field: FieldDefinition, item: string): string =>
  isList(field) ? `readonly ${item.includes(' ') ? `(${item})` : item}[]` : item;

/** A union of the values of a `select`; of none, nothing can be written. */
const selected = ({ options }: FieldDefinition): string => {
  const values = Array.isArray(options?.values) ? options.values : [];
  return values.map((value) => JSON.stringify(value)).join(' | ') || 'never';
};

/** The value of each type of field, as it is read. A password never is. */
const read: Readonly<Record<string, (field: FieldDefinition) => string | undefined>> = {
  text: () => 'string',
  email: () => 'string',
  url: () => 'string',
  editor: () => 'string',
  number: () => 'number',
  bool: () => 'boolean',
  date: () => 'number',
  autodate: () => 'number',
  select: (field) => listOf(field, selected(field)),
  relation: (field) => listOf(field, 'string'),
  file: (field) => listOf(field, 'string'),
  json: () => 'unknown',
  geoPoint: () => '{ readonly lat: number; readonly lng: number }',
  vector: () => 'readonly number[]',
  password: () => undefined,
};

/** The value of a field as it is read; undefined for one that is never shown. A type that is not known is `unknown`. */
export const readText = (field: FieldDefinition): string | undefined =>
  Object.hasOwn(read, field.type) ? read[field.type]?.(field) : 'unknown';

/** Whether a field is a list that is `[]` without entries; other fields are null (fields §2.3). */
export const isNeverNull = (field: FieldDefinition): boolean =>
  field.required === true ||
  (isList(field) && (field.type === 'relation' || field.type === 'file')) ||
  field.name === 'verified';

/** The value of a field as a create takes it; undefined for one that the server sets. */
export function createText(field: FieldDefinition): string | undefined {
  if (field.type === 'autodate') return undefined;
  if (field.type === 'date') return 'number | string';
  if (field.type === 'password') return 'string';
  if (field.type === 'file') return listOf(field, 'Blob');
  return readText(field);
}

/** The value of a field as an update takes it: a value, or operators (records §6.3). */
export function updateText(field: FieldDefinition): string | undefined {
  const value = field.type === 'file' ? listOf(field, isList(field) ? 'string | Blob' : 'Blob') : createText(field);
  if (field.type === 'number') return `${value} | { readonly $add: number }`;
  if (!isList(field)) return value;
  const item = `readonly ${field.type === 'select' ? `(${selected(field)})` : 'string'}[]`;
  const operators = field.type === 'file' ? ['$remove'] : ['$append', '$prepend', '$remove'];
  return `${value} | { ${operators.map((name) => `readonly ${name}?: ${item}`).join('; ')} }`;
}
