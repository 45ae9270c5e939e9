import type { JsonSchema } from '@recordbus/http';

/** Schema members whose value is a schema. */
const single = ['items', 'additionalProperties', 'not', 'contentSchema'];
/** Members with a list of schemas. */
const lists = ['anyOf', 'oneOf', 'allOf'];

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Replaces each schema directly below a schema. Members whose values are data stay as they are. */
export function mapSchemas(schema: JsonSchema, change: (inner: JsonSchema) => JsonSchema): JsonSchema {
  const changed: Record<string, unknown> = { ...schema };
  for (const name of single) if (isObject(schema[name])) changed[name] = change(schema[name]);
  for (const name of lists) {
    const inner = schema[name];
    if (Array.isArray(inner)) changed[name] = inner.map((one) => (isObject(one) ? change(one) : one));
  }
  if (isObject(schema.properties))
    changed.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, inner]) => [name, isObject(inner) ? change(inner) : inner]),
    );
  return changed;
}
