import type { JsonSchema } from '@recordbus/shared/http';
import type { Collection } from './collection.ts';
import type { Field } from './field.ts';
import { findFixedDefault, hasDefault } from './field-default.ts';
import { fieldTypeOf, fieldTypes } from './fields/index.ts';
import { recordColumns } from './record-columns.ts';

const seconds = { type: 'integer', description: 'unix seconds' };

/** The members of a record that are not fields. */
const ownMembers: Readonly<Record<string, JsonSchema>> = {
  id: { type: 'string' },
  anonymous: { type: 'boolean' },
  created: seconds,
  updated: seconds,
};

/** The JSON Schema of the value of a field as records show it; anything, for a type of a later version. */
export const valueSchemaOf = (field: Field): JsonSchema => {
  const type = fieldTypes.get(field.type);
  return type ? orNull(type.valueSchema(field)) : {};
};

/**
 * The JSON Schema of a record of the collection in answers. Only `id` is always there: the parameter `fields` leaves
 * out what it does not name.
 */
export function recordSchema(collection: Collection): JsonSchema {
  const fields = new Map(collection.fields.map((field) => [field.name, field]));
  const members = recordColumns(collection).map(({ name }) => {
    const field = fields.get(name);
    return [name, field ? valueSchemaOf(field) : (ownMembers[name] ?? {})];
  });
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(members),
      expand: { type: 'object', description: 'the records that `expand` names, by relation' },
      _score: { type: 'number', description: 'of a vector search: cosine similarity' },
    },
    required: ['id'],
    additionalProperties: false,
  };
}

/** The JSON Schema of the body of a create. The server refuses other members (422). */
export function newRecordSchema(collection: Collection): JsonSchema {
  const required = collection.fields.filter(
    (field) => field.required && !fieldTypeOf(field).isServerSet && !hasDefault(field),
  );
  return written(
    collection,
    required.map(({ name }) => name),
    (field) => ({ ...writtenSchemaOf(field), ...defaultSchemaOf(field) }),
  );
}

/** The default as JSON Schema has it. A computed one is no value of the schema. */
function defaultSchemaOf(field: Field): JsonSchema {
  const value = findFixedDefault(field);
  return value === undefined ? {} : { default: value };
}

/** The JSON Schema of the body of an update. Members that it leaves out stay as they are. */
export const recordChangeSchema = (collection: Collection): JsonSchema => written(collection, [], changeSchemaOf);

function written(
  { type, fields }: Collection,
  required: readonly string[],
  schemaOf: (field: Field) => JsonSchema,
): JsonSchema {
  const writable = fields.filter((field) => !fieldTypeOf(field).isServerSet);
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(writable.map((field) => [field.name, schemaOf(field)])),
      ...(type === 'auth' && {
        password: { type: 'string', writeOnly: true, description: 'what the user signs in with' },
        old_password: { type: 'string', writeOnly: true, description: 'required of a user who changes the password' },
      }),
    },
    ...(required.length > 0 && { required }),
  };
}

function writtenSchemaOf(field: Field): JsonSchema {
  const type = fieldTypeOf(field);
  const schema = type.writtenSchema?.(field) ?? type.valueSchema(field);
  return field.required ? schema : orNull(schema);
}

/** A value, or the operators that an update takes instead (records §6.3). */
function changeSchemaOf(field: Field): JsonSchema {
  const schema = writtenSchemaOf(field);
  const operators = fieldTypeOf(field).operators?.(field);
  if (!operators) return schema;
  const { schemas: properties } = operators;
  const changed = { type: 'object', properties, minProperties: 1, additionalProperties: false };
  return { description: `a value, or operators: ${Object.keys(properties).join(', ')}`, anyOf: [schema, changed] };
}

/** The schema with null, for no value. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema;
  if (typeof type !== 'string' && !Array.isArray(type)) return schema;
  return { ...schema, type: [type, 'null'].flat(), ...(Array.isArray(values) && { enum: [...values, null] }) };
}
