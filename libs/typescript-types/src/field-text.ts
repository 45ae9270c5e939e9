import { type Field, fieldTypes, isNeverNull as isNeverNullField } from '@recordbus/schema';
import type { FieldDefinition } from './definition.ts';
import { schemaText } from './schema-text.ts';

/** Completes a field with the options that the definition leaves out. */
function completed({ name, type, required = false, options = {} }: FieldDefinition): Field {
  const read = fieldTypes.get(type)?.options.safeParse(options);
  return { id: name, name, type, required, system: false, options: read?.success ? read.data : options };
}

/** A field's type in reads; undefined for a field that is never shown, `unknown` for an unknown type. */
export function readText(definition: FieldDefinition): string | undefined {
  const type = fieldTypes.get(definition.type);
  if (!type) return 'unknown';
  return type.isWriteOnly ? undefined : schemaText(type.valueSchema(completed(definition)), {});
}

/** Whether every record has a value in the field. */
export const isNeverNull = (collectionType: string, field: FieldDefinition): boolean =>
  isNeverNullField(collectionType, completed(field));

/** A field's type in a create; undefined for a field that the server sets. */
export function createText(definition: FieldDefinition): string | undefined {
  const type = fieldTypes.get(definition.type);
  if (!type) return 'unknown';
  if (type.isServerSet) return undefined;
  const field = completed(definition);
  if (definition.type === 'file') return field.options.multiple ? 'readonly Blob[]' : 'Blob';
  return schemaText(type.writtenSchema?.(field) ?? type.valueSchema(field), {});
}

/** A field's type in an update: a value, or operators (records §6.3). */
export function updateText(definition: FieldDefinition): string | undefined {
  const field = completed(definition);
  const isListOfFiles = definition.type === 'file' && field.options.multiple === true;
  const value = isListOfFiles ? 'readonly (string | Blob)[]' : createText(definition);
  const operators = fieldTypes.get(definition.type)?.operators?.(field);
  if (value === undefined || !operators) return value;
  const names = Object.keys(operators.schemas);
  const changed = schemaText(
    { type: 'object', properties: operators.schemas, required: names.length > 1 ? [] : names },
    {},
  );
  return `${value} | ${changed}`;
}
