import type { JsonSchema } from '@recordbus/http';
import { type Collection, type Field, isEncrypted, isWriteOnly, valueSchemaOf } from '@recordbus/schema';

/** Whether events leave the field out (events §2.4). */
const isSecret = (field: Field): boolean => isWriteOnly(field) || isEncrypted(field);

/**
 * Returns the JSON Schema for a collection's record in events. It allows further members and requires only the implicit
 * ones, since an event shows the record as the collection was at that time.
 */
export function eventRecordSchema({ type, fields }: Collection): JsonSchema {
  const seconds = { type: 'integer', description: 'unix seconds' };
  return {
    type: 'object',
    properties: {
      id: { type: 'string' },
      ...(type === 'auth' && { anonymous: { type: 'boolean' } }),
      ...Object.fromEntries(
        fields.filter((field) => !isSecret(field)).map((field) => [field.name, withoutChoices(valueSchemaOf(field))]),
      ),
      created: seconds,
      updated: seconds,
    },
    required: ['id', 'created', 'updated'],
  };
}

/** A past value may be a choice that the field no longer has. */
function withoutChoices({ enum: _, items, ...schema }: JsonSchema): JsonSchema {
  return { ...schema, ...(items !== undefined && { items: withoutChoices(items as JsonSchema) }) };
}
