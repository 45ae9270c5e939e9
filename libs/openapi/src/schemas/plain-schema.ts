import type { JsonSchema } from '@recordbus/http';
import { mapSchemas } from './walk-schema.ts';

/** The reference to a component. */
export const referTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/**
 * Returns a schema in the forms that client generators know (http §12.7): a value that may be null has the types `[…,
 * "null"]`, a constant is an enum with one value, and branches from which one fits are `oneOf`. `definitionOf` returns
 * a reference's schema, for references that may be null.
 */
export function plainSchema(schema: JsonSchema, definitionOf: (reference: string) => JsonSchema): JsonSchema {
  const { $defs, id, readOnly, propertyNames, default: preset, $ref, const: constant, anyOf, oneOf, ...more } = schema;
  const rest = { ...more, ...defaultOf(preset, more) };
  if (typeof $ref === 'string') return { ...rest, $ref: $ref.replace('#/$defs/', '#/components/schemas/') };
  if (constant !== undefined) return tight({ type: typeOf(constant), ...rest, enum: [constant] });
  if (rest.type === 'null') return nothing;
  const plain = (inner: JsonSchema): JsonSchema => plainSchema(inner, definitionOf);
  const branches = anyOf ?? oneOf;
  if (!Array.isArray(branches)) return tight(mapSchemas(rest, plain));
  const choices = (branches as JsonSchema[]).filter(({ type }) => type !== 'null').map(plain);
  const joined = joinBranches(choices);
  const one = choices.length < branches.length ? orNull(joined, definitionOf) : joined;
  return { ...one, ...rest };
}

/**
 * A schema's default. Null, an empty object and an empty list are what a member that is left out means anyway; an
 * object is said in words, since ogen makes no client from a document with one.
 */
function defaultOf(value: unknown, { description }: JsonSchema): JsonSchema {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object') return { default: value };
  if (Array.isArray(value)) return value.length > 0 ? { default: value } : {};
  if (Object.keys(value).length === 0) return {};
  return { description: [description, `by default ${JSON.stringify(value)}`].filter(Boolean).join('; ') };
}

const typeOf = (value: unknown): string =>
  typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value;

/** Null, as in `{"data": null}`. Generators know no type that has only null. */
const nothing: JsonSchema = { type: ['object', 'null'], description: 'always null', maxProperties: 0 };

/** The bounds that a whole number has in JavaScript. They say nothing about the value. */
const ofJavaScript = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

/** Number formats. Without them, some generators choose 32 bits. */
const formats: Readonly<Record<string, string>> = { integer: 'int64', number: 'double' };

/** What `typeof` says about a type's values. */
const jsonTypes: Readonly<Record<string, string>> = {
  integer: 'number',
  number: 'number',
  string: 'string',
  boolean: 'boolean',
  array: 'object',
  object: 'object',
};

/** Number schemas name their width, list schemas their items, and a value has one type in addition to null. */
function tight(schema: JsonSchema): JsonSchema {
  const { type: given, examples, minimum, maximum, pattern, uniqueItems, ...rest } = schema;
  const types = [given].flat().filter((type) => typeof type === 'string');
  const own = types.find((type) => type !== 'null');
  if (own === undefined) return schema;
  const fits = (value: unknown) => value === null || jsonTypes[own] === typeof value;
  const shown = Array.isArray(examples) ? examples.filter(fits) : [];
  return {
    type: types.includes('null') ? [own, 'null'] : own,
    ...(formats[own] && { format: formats[own] }),
    ...(own === 'array' && { items: {} }),
    // A format says it in words that generators know; zod's pattern for it is long.
    ...(pattern !== undefined && rest.format === undefined && { pattern }),
    ...(minimum !== undefined && minimum !== ofJavaScript.minimum && { minimum }),
    ...(maximum !== undefined && maximum !== ofJavaScript.maximum && { maximum }),
    ...(shown.length > 0 && { examples: shown }),
    ...rest,
    // Generators would make it a set, which JSON does not have.
    ...(uniqueItems === true && { description: [rest.description, 'each once'].filter(Boolean).join('; ') }),
  };
}

function joinBranches(branches: readonly JsonSchema[]): JsonSchema {
  const [first = {}, ...others] = branches;
  if (others.length === 0) return first;
  const isEnum = branches.every((branch) => Array.isArray(branch.enum) && branch.type === first.type);
  if (isEnum) return { ...first, enum: branches.flatMap((branch) => branch.enum as unknown[]) };
  return { oneOf: branches };
}

/** The schema, or null. A reference is replaced by what it refers to. */
function orNull(schema: JsonSchema, definitionOf: (reference: string) => JsonSchema): JsonSchema {
  const { $ref, ...rest } = schema;
  const { type, enum: values, ...more } = typeof $ref === 'string' ? { ...definitionOf($ref), ...rest } : schema;
  // A schema without a type takes null anyway.
  if (type === undefined) return schema;
  return { type: [type, 'null'].flat(), ...(Array.isArray(values) && { enum: [...values, null] }), ...more };
}
