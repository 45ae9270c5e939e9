import type { JsonSchema, RouteManifest } from '@recordbus/shared/http';

const asObject = (schema: JsonSchema | undefined) => ({
  properties: (schema?.properties ?? {}) as Record<string, JsonSchema>,
  required: (schema?.required ?? []) as readonly string[],
});

/** The parameters of an operation: those of its path and query, and the headers that it reads. */
export function parametersOf(route: RouteManifest, path: string): unknown[] {
  const inPath = asObject(route.params).properties;
  const inQuery = asObject(route.query);
  const names = [...path.matchAll(/:([^/]+)/g)].map(([, name = '']) => name);
  return [
    ...names.map((name) => parameter(name, 'path', inPath[name] ?? { type: 'string' }, true)),
    ...Object.entries(inQuery.properties).map(([name, schema]) =>
      parameter(name, 'query', schema, inQuery.required.includes(name)),
    ),
    ...Object.entries(route.requestHeaders ?? {}).map(([name, description]) =>
      parameter(name, 'header', { type: 'string', description }, false),
    ),
    ...(route.idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ];
}

/** What stands at the level of the parameter does not stand in its schema again. */
function parameter(name: string, place: string, { description, ...schema }: JsonSchema, required: boolean) {
  return { name, in: place, required, ...(description !== undefined && { description }), schema };
}

/** Header of the key that makes a POST happen once (contract §1). */
export const idempotencyKey = {
  name: 'X-Service-Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'The same key with the same request, within 24 hours, gives the first answer again instead of doing the work again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '4f8b1c1e-8a52-4c5b-a7a3-0d4f0a4f5a11',
};
