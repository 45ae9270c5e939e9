import type { JsonSchema } from '@recordbus/http';
import { inSlices } from '@recordbus/limits/time-slice';
import type { OpenApiDocument } from './document.ts';
import { mapSchemas } from './schemas/walk-schema.ts';

/** The JSON Schema members that OpenAPI 3.0 does not know, and has no other form for. */
const unknown = new Set([
  'contentMediaType',
  'contentSchema',
  'dependentRequired',
  'patternProperties',
  '$comment',
  '$schema',
]);

/** Returns a schema as OpenAPI 3.0.3 writes it: `nullable`, one `example`, and a reference alone in its object. */
function olderSchema(schema: JsonSchema): JsonSchema {
  const { type, examples, $ref, ...rest } = mapSchemas(schema, olderSchema);
  const known = Object.fromEntries(Object.entries(rest).filter(([name]) => !unknown.has(name)));
  if (typeof $ref === 'string') return Object.keys(known).length === 0 ? { $ref } : { ...known, allOf: [{ $ref }] };
  const types = [type].flat().filter((one) => typeof one === 'string');
  const hasPatterns = schema.patternProperties !== undefined && schema.additionalProperties === false;
  return {
    ...(types.length > 0 && { type: types.find((one) => one !== 'null') }),
    ...(types.includes('null') && { nullable: true }),
    ...known,
    ...exclusive('minimum', schema.exclusiveMinimum),
    ...exclusive('maximum', schema.exclusiveMaximum),
    ...(hasPatterns && { additionalProperties: { type: 'string' } }),
    ...(Array.isArray(examples) && examples.length > 0 && { example: examples[0] }),
  };
}

/** A bound that is excluded: 3.0 has a switch next to the bound. */
const exclusive = (name: 'minimum' | 'maximum', bound: unknown): JsonSchema =>
  typeof bound === 'number'
    ? { [name]: bound, [name === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum']: true }
    : {};

/** The document members whose values are schemas. Data are below `example`, `examples` and `default`. */
const dataMembers = new Set(['example', 'examples', 'default', 'enum']);

/** Rewrites the schemas below a document part that is not a schema itself. */
function olderPart(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(olderPart);
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [
      name,
      dataMembers.has(name) ? value : name === 'schema' ? olderSchema(value as JsonSchema) : olderPart(value),
    ]),
  );
}

interface License {
  readonly name: string;
  readonly identifier: string;
}

/** License identifiers came with 3.1. */
const olderLicense = ({ name, identifier }: License) => ({ name, url: `https://spdx.org/licenses/${identifier}.html` });

/** Returns the document as OpenAPI 3.0.3, for generators that read nothing newer (http §12.7). Works in time slices. */
export async function olderDocument(document: OpenApiDocument): Promise<OpenApiDocument> {
  const { info, paths, components, ...rest } = document;
  const { schemas, ...parts } = components as { readonly schemas: Readonly<Record<string, JsonSchema>> };
  const olderPaths: Record<string, Readonly<Record<string, unknown>>> = {};
  for await (const [path, item] of inSlices(Object.entries(paths)))
    olderPaths[path] = olderPart(item) as Readonly<Record<string, unknown>>;
  const olderSchemas: Record<string, JsonSchema> = {};
  for await (const [name, schema] of inSlices(Object.entries(schemas))) olderSchemas[name] = olderSchema(schema);
  const { license, ...about } = info;
  return {
    ...rest,
    openapi: '3.0.3',
    info: { ...about, license: olderLicense(license as License) },
    paths: olderPaths,
    components: { ...(olderPart(parts) as object), schemas: olderSchemas },
  };
}
