import type { RouteManifest } from '@recordbus/shared/http';
import { operationIdOf, tagOf, templateOf } from './names.ts';
import { parametersOf } from './parameters.ts';
import { responsesOf } from './responses.ts';

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

/** Returns a route as an operation of the document, listed under the given one of its paths. */
export function operationOf(route: RouteManifest, path: string) {
  const others = route.paths.filter((other) => other !== path).map((other) => `\`${templateOf(other)}\``);
  const body = requestBody(route);
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route)],
    summary: route.summary,
    ...(others.length > 0 && { description: `Also at ${others.join(' and ')}.` }),
    security: [...security[route.access], ...keySecurity(route)],
    parameters: parametersOf(route, path),
    ...(body && { requestBody: body }),
    responses: responsesOf(route, path),
  };
}

function requestBody({ body, streamedBody, multipartBody }: RouteManifest) {
  if (streamedBody)
    return {
      required: false,
      content: Object.fromEntries(Object.entries(streamedBody).map(([type, schema]) => [type, { schema }])),
    };
  if (!body) return undefined;
  const required = Array.isArray(body.required) && body.required.length > 0;
  return {
    required,
    content: {
      'application/json': { schema: body },
      ...(multipartBody && { 'multipart/form-data': { schema: multipartBody } }),
    },
  };
}
