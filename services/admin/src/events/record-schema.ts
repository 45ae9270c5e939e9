import type { Collection, Field } from '@recordbus/schema';

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const textOrList = ({ options }: Field, item: JsonSchema): JsonSchema =>
  options.multiple ? { type: 'array', items: item } : item;

/** What the value of a field looks like in an event, by its type (interface §2.2); null stands for no value. */
const valueSchemas: Readonly<Record<string, (field: Field) => JsonSchema>> = {
  text: () => text,
  email: () => text,
  url: () => text,
  editor: () => text,
  number: () => ({ type: 'number' }),
  bool: () => ({ type: 'boolean' }),
  date: () => ({ type: 'integer', description: 'unix seconds' }),
  autodate: () => ({ type: 'integer', description: 'unix seconds' }),
  select: (field) => textOrList(field, text),
  relation: ({ collection }) => ({ type: 'string', description: `id of a record of ${collection}` }),
  file: (field) => textOrList(field, text),
  geoPoint: () => ({
    type: 'object',
    properties: { lat: { type: 'number' }, lng: { type: 'number' } },
    required: ['lat', 'lng'],
  }),
  vector: () => ({ type: 'array', items: { type: 'number' } }),
  json: () => ({}),
};

/** Is it one whose values never leave in an event (contract §2, encrypted fields)? */
const isSecret = ({ type, options }: Field): boolean => type === 'password' || options.encrypted === true;

/**
 * The JSON Schema of a collection's record as it stands in events. Further members are allowed, and no field is
 * required but the implicit ones: an event shows the record as the collection was when it happened.
 */
export function recordSchema({ type, fields }: Collection): JsonSchema {
  const seconds = { type: 'integer', description: 'unix seconds' };
  return {
    type: 'object',
    properties: {
      id: text,
      ...(type === 'auth' && { anonymous: { type: 'boolean' } }),
      ...Object.fromEntries(
        fields.filter((field) => !isSecret(field)).map((field) => [field.name, fieldSchema(field)]),
      ),
      created: seconds,
      updated: seconds,
    },
    required: ['id', 'created', 'updated'],
  };
}

function fieldSchema(field: Field): JsonSchema {
  const schema = valueSchemas[field.type]?.(field) ?? {};
  return 'type' in schema ? { ...schema, type: [schema.type, 'null'] } : schema;
}
