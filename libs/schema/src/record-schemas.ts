import type { JsonSchema } from '@recordbus/http';
import type { Collection } from './collection.ts';
import type { Field } from './field.ts';
import { findFixedDefault, hasDefault } from './field-default.ts';
import { withExample } from './field-example.ts';
import { ValueRefusal } from './field-type.ts';
import { fieldTypeOf, fieldTypes } from './fields/index.ts';
import { isNeverNull } from './never-null.ts';
import { recordColumns } from './record-columns.ts';

const seconds = { type: 'integer', description: 'unix seconds', examples: [1767225600] };

/** A record's members that are not fields. */
const ownMembers: Readonly<Record<string, JsonSchema>> = {
  id: { type: 'string', examples: ['019b9a4c-7c00-7d3e-8f21-5b0e7a64c1d2'] },
  anonymous: { type: 'boolean' },
  created: seconds,
  updated: seconds,
};

/** The JSON Schema for a field's value as records show it; anything, for a later version's type. */
export const valueSchemaOf = (field: Field): JsonSchema => {
  const type = fieldTypes.get(field.type);
  return type ? orNull(type.valueSchema(field)) : {};
};

/**
 * The JSON Schema for the collection's records in answers, with the schemas for the records in their `expand`. Every
 * member is required, except those with a view rule (fields §5), although the parameter `fields` leaves out members
 * that it does not name.
 */
export function recordSchema(
  collection: Collection,
  expansions: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  const fields = new Map(collection.fields.map((field) => [field.name, field]));
  const columns = recordColumns(collection);
  const members = columns.map(({ name }) => {
    const field = fields.get(name);
    return [name, field ? shownSchemaOf(collection, field) : (ownMembers[name] ?? {})];
  });
  return {
    type: 'object',
    description: 'The parameter `fields` leaves out the members that it does not name.',
    properties: {
      ...Object.fromEntries(members),
      expand: {
        type: 'object',
        description: 'the records that the parameter `expand` names, by relation',
        ...(Object.keys(expansions).length > 0 && { properties: expansions }),
      },
      _score: { type: 'number', description: 'in a vector search: cosine similarity' },
    },
    required: columns.map(({ name }) => name).filter((name) => (fields.get(name)?.viewRule ?? null) === null),
    additionalProperties: false,
  };
}

/** The schema for a value in a record, without null if records always have a value. */
function shownSchemaOf(collection: Collection, field: Field): JsonSchema {
  const type = fieldTypes.get(field.type);
  if (!type) return {};
  const schema = type.valueSchema(field);
  const isThere = isNeverNull(collection.type, field) && !losesTarget(field) && collection.retain?.action !== 'redact';
  return withExample(field, isThere ? schema : orNull(schema));
}

/** Whether deleting its target leaves a required field without a value (fields §3.9). */
const losesTarget = ({ type, options }: Field): boolean =>
  type === 'relation' && !options.multiple && options.cascade === 'setNull';

/**
 * The JSON Schema for a create's body. The server refuses other members (422). `needsPassword` says whether the caller
 * must set an account's password; only admins may leave it out (records §12).
 */
export function newRecordSchema(
  collection: Collection,
  { needsPassword }: { readonly needsPassword: boolean },
): JsonSchema {
  const fields = requiredOf(collection);
  const required = collection.type === 'auth' && needsPassword ? [...fields, 'password'] : fields;
  return written(collection, required, newValueSchemaOf, newPassword);
}

/** The fields that a create needs. */
export const requiredOf = ({ fields }: Collection): string[] =>
  fields
    .filter((field) => field.required && !fieldTypeOf(field).isServerSet && !hasDefault(field))
    .map(({ name }) => name);

/** The JSON Schema for a field's value in a create. */
const newValueSchemaOf = (field: Field): JsonSchema => ({
  ...writtenSchemaOf(field),
  ...defaultSchemaOf(field),
});

/** The default in JSON Schema. A computed default is not a schema value. */
function defaultSchemaOf(field: Field): JsonSchema {
  const value = findFixedDefault(field);
  if (value === undefined) return {};
  // A date may be defined as a text; the document describes it as seconds.
  const stored = field.type === 'date' ? fieldTypeOf(field).compile(field)(value) : value;
  return stored instanceof ValueRefusal ? {} : { default: stored };
}

/** The JSON Schema for an update's body. Members that it leaves out stay as they are. */
export const recordChangeSchema = (collection: Collection): JsonSchema =>
  written(collection, [], changeSchemaOf, changedPassword);

function written(
  { type, fields }: Collection,
  required: readonly string[],
  schemaOf: (field: Field) => JsonSchema,
  passwords: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(writableOf(fields).map((field) => [field.name, schemaOf(field)])),
      ...(type === 'auth' && passwords),
    },
    ...(required.length > 0 && { required }),
  };
}

/** The fields that the server does not set. */
export const writableOf = (fields: readonly Field[]): readonly Field[] =>
  fields.filter((field) => !fieldTypeOf(field).isServerSet);

/** A new account's members that are not fields. */
export const newPassword: Readonly<Record<string, JsonSchema>> = {
  password: { type: 'string', writeOnly: true, description: 'what the user signs in with' },
};

/** A changed account's members that are not fields. */
export const changedPassword: Readonly<Record<string, JsonSchema>> = {
  ...newPassword,
  old_password: { type: 'string', writeOnly: true, description: 'required from a user who changes the password' },
};

/** The JSON Schema for a field's value in a body. */
export function writtenSchemaOf(field: Field): JsonSchema {
  const type = fieldTypeOf(field);
  const schema = type.writtenSchema?.(field) ?? type.valueSchema(field);
  return withExample(field, field.required ? schema : orNull(schema));
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
