import { type Collection, type Field, valueSchemaOf } from '@recordbus/schema';
import type { JsonSchema } from '@recordbus/shared/http';

/** Is it one whose values never leave in an event (contract §2, encrypted fields)? */
const isSecret = ({ type, options }: Field): boolean => type === 'password' || options.encrypted === true;

/**
 * The JSON Schema of a collection's record as it stands in events. Further members are allowed, and no field is
 * required but the implicit ones: an event shows the record as the collection was when it happened.
 */
export function eventRecordSchema({ type, fields }: Collection): JsonSchema {
  const seconds = { type: 'integer', description: 'unix seconds' };
  return {
    type: 'object',
    properties: {
      id: { type: 'string' },
      ...(type === 'auth' && { anonymous: { type: 'boolean' } }),
      ...Object.fromEntries(
        fields.filter((field) => !isSecret(field)).map((field) => [field.name, valueSchemaOf(field)]),
      ),
      created: seconds,
      updated: seconds,
    },
    required: ['id', 'created', 'updated'],
  };
}
