import type { RouteManifest } from '@recordbus/http';
import { componentName, operationIdOf, tagOf, templateOf } from './names.ts';
import { parametersOf } from './parameters.ts';
import { responsesOf } from './responses.ts';
import { type Components, named } from './schemas/components.ts';

/** The tokens that a route accepts; `{}` means that it needs none. */
const security = {
  public: [{}, { user: [] }, { admin: [] }],
  session: [{ user: [] }, { admin: [] }],
  user: [{ user: [] }],
  admin: [{ admin: [] }],
} as const;

/** The scope that a service key needs (keys §4.1); any key may call a route that needs none. */
function keySecurity({
  scope,
  access,
  paths,
  tag,
}: RouteManifest): readonly Readonly<Record<string, readonly string[]>>[] {
  if (scope === 'none' || access === 'user') return [];
  const collection = paths[0]?.includes(':collection') === false ? tag : '{collection}';
  return [{ key: scope === 'any' ? [] : [scope.replace(/^records:/, `records:${collection}:`)] }];
}

/** Returns a route as an operation in the document, listed under the given path. */
export function operationOf(route: RouteManifest, path: string, components: Components) {
  const others = route.paths.filter((other) => other !== path).map((other) => `\`${templateOf(other)}\``);
  const body = requestBody(route, components);
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route)],
    summary: route.summary,
    ...(others.length > 0 && { description: `Also at ${others.join(' and ')}.` }),
    security: [...security[route.access], ...keySecurity(route)],
    parameters: parametersOf(route, path, components),
    ...(body && { requestBody: body }),
    responses: responsesOf(route, path, components),
  };
}

function requestBody(route: RouteManifest, components: Components) {
  const { body, streamedBody, multipartBody } = route;
  if (streamedBody)
    return {
      required: false,
      content: Object.fromEntries(
        Object.entries(streamedBody).map(([type, schema]) => [
          type,
          { schema: type === 'application/json' ? named(components, componentName(route, 'Body'), schema) : schema },
        ]),
      ),
    };
  if (!body) return undefined;
  const schema = named(components, componentName(route, 'Body'), body);
  return {
    required: needsBody(route, components),
    content: {
      'application/json': { schema },
      // Not a component: some generators make no type for a form, and then miss it.
      ...(multipartBody && { 'multipart/form-data': { schema: components.plain(multipartBody) } }),
    },
  };
}

/** Whether a request makes no sense without a body: one that has required members, a record write, and a change. */
function needsBody({ method, body, multipartBody, operationId }: RouteManifest, { schemas }: Components): boolean {
  if (method === 'PATCH' || method === 'PUT' || multipartBody || operationId?.startsWith('create_')) return true;
  const { $ref } = body ?? {};
  const schema = typeof $ref === 'string' ? schemas[$ref.replace('#/components/schemas/', '')] : body;
  return Array.isArray(schema?.required) && schema.required.length > 0;
}
