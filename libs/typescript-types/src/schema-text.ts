type Schema = Readonly<Record<string, unknown>>;

/** The maximum schema depth. Deeper values are `unknown`. */
const maxLevels = 12;

/** Writes a JSON Schema as a TypeScript type. A schema without an equivalent becomes `unknown`. */
export function schemaText(schema: unknown, document: Schema, level = 0): string {
  if (typeof schema !== 'object' || schema === null || level > maxLevels) return 'unknown';
  const { $ref, const: constant, enum: values, anyOf, oneOf, allOf, type } = schema as Schema;
  const next = (inner: unknown): string => schemaText(inner, document, level + 1);
  if (typeof $ref === 'string') return next(lookUp($ref, document));
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return [...new Set(choices.map(next))].join(' | ');
  if (Array.isArray(allOf)) return allOf.map((one) => `(${next(one)})`).join(' & ');
  if (Array.isArray(type)) return type.map((one) => next({ ...schema, type: one })).join(' | ');
  return typeText(String(type), schema as Schema, next);
}

function typeText(type: string, schema: Schema, next: (inner: unknown) => string): string {
  if (type === 'string' || type === 'boolean' || type === 'null') return type;
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'array') return listText(next(schema.items));
  return type === 'object' ? objectText(schema, next) : 'unknown';
}

/** A list. A union or a list in it needs brackets. */
const listText = (item: string): string => `readonly ${/^\w+$/.test(item) ? item : `(${item})`}[]`;

/** A member's name, quoted where TypeScript needs it. */
const nameText = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function objectText({ properties, required, additionalProperties }: Schema, next: (inner: unknown) => string): string {
  const needed = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(Object(properties)).map(
    ([name, inner]) => `readonly ${nameText(name)}${needed.has(name) ? '' : '?'}: ${next(inner)}`,
  );
  if (members.length > 0) return `{ ${members.join('; ')} }`;
  return `{ readonly [name: string]: ${additionalProperties ? next(additionalProperties) : 'unknown'} }`;
}

/** Returns the schema to which a schema refers, or the schema itself. */
export function resolved(schema: unknown, document: Schema): unknown {
  const { $ref } = Object(schema) as Schema;
  return typeof $ref === 'string' ? lookUp($ref, document) : schema;
}

function lookUp(reference: string, document: Schema): unknown {
  return reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((value, name) => Object(value)[name.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}
