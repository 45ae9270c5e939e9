import type { JsonSchema, RouteManifest } from '@recordbus/http';
import type { Components } from './schemas/components.ts';

const asObject = (schema: JsonSchema | undefined) => ({
  properties: (schema?.properties ?? {}) as Record<string, JsonSchema>,
  required: (schema?.required ?? []) as readonly string[],
});

/** Returns an operation's parameters: from its path and query, and the headers that it reads. */
export function parametersOf(route: RouteManifest, path: string, { plain }: Components): unknown[] {
  const inPath = asObject(route.params).properties;
  const inQuery = asObject(route.query);
  const names = [...path.matchAll(/:([^/]+)/g)].map(([, name = '']) => name);
  return [
    ...names.map((name) => parameter(name, 'path', plain(inPath[name] ?? { type: 'string' }), true)),
    ...Object.entries(inQuery.properties).map(([name, schema]) =>
      parameter(name, 'query', plain(schema), inQuery.required.includes(name)),
    ),
    ...Object.entries(route.requestHeaders ?? {}).map(([name, description]) =>
      parameter(name, 'header', { type: 'string', description, ...tagsOf(route, name) }, false),
    ),
    ...(route.idempotent
      ? Object.keys(idempotencyParameters).map((name) => ({ $ref: `#/components/parameters/${name}` }))
      : []),
  ];
}

/** A write takes no ETags in `If-None-Match` (records §17.4). */
const tagsOf = ({ method }: RouteManifest, header: string): JsonSchema =>
  header === 'If-None-Match' && method !== 'GET' ? { pattern: '^\\*$' } : {};

/** Returns a parameter; its description moves from the schema to the parameter. */
function parameter(name: string, place: string, { description, ...schema }: JsonSchema, required: boolean) {
  return { name, in: place, required, ...(description !== undefined && { description }), schema };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A request with the same key and content within 24 hours gets the first answer again; the work is not repeated. A UUID makes a good key.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** The idempotency key headers (http §7.1), as components in the document. */
export const idempotencyParameters = {
  IdempotencyKey: idempotencyKey,
  ServiceIdempotencyKey: {
    ...idempotencyKey,
    name: 'X-Service-Idempotency-Key',
    description: 'Another name for `Idempotency-Key`. A request with both must have the same value in both.',
  },
};
