import type { OpenApi, Schema } from './read-document.ts';

/** Returns a schema's example value, with its required members, or with the first one if none is required. */
export function exampleOf(document: OpenApi, schema: Schema | undefined, level = 0): unknown {
  if (!schema || level > 4) return {};
  const { $ref, examples, enum: values, const: only, anyOf } = schema;
  if (typeof $ref === 'string') return exampleOf(document, referred(document, $ref), level + 1);
  if (only !== undefined) return only;
  if (Array.isArray(examples)) return examples[0];
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return exampleOf(document, anyOf[0] as Schema, level + 1);
  const type = [schema.type].flat()[0];
  if (type === 'object') return objectOf(document, schema, level);
  if (type === 'array') return [exampleOf(document, schema.items as Schema, level + 1)];
  return ofType[String(type)] ?? {};
}

const ofType: Readonly<Record<string, unknown>> = { string: '…', integer: 1, number: 1, boolean: true };

function objectOf(document: OpenApi, { properties, required }: Schema, level: number): unknown {
  const members = Object.entries((properties ?? {}) as Readonly<Record<string, Schema>>);
  const needed = new Set(Array.isArray(required) ? required : []);
  const shown = members.filter(([name]) => needed.has(name));
  const chosen = shown.length > 0 ? shown : members.slice(0, 1);
  return Object.fromEntries(chosen.map(([name, member]) => [name, exampleOf(document, member, level + 1)]));
}

const referred = (document: OpenApi, reference: string): Schema | undefined =>
  document.components.schemas[reference.replace('#/components/schemas/', '')];
