import type { JsonSchema, RouteManifest, ServiceDescription } from '@recordbus/http';
import { inSlices } from '@recordbus/limits/time-slice';
import { canonicalPath, tagOf, templateOf } from './names.ts';
import { operationOf } from './operation.ts';
import { idempotencyParameters } from './parameters.ts';
import { commonResponses, errorSchema, headers } from './responses.ts';
import { createComponents } from './schemas/components.ts';
import { tagDescriptions } from './tags.ts';

/** The OpenAPI versions in which the document is written, the usual one first. */
export const openApiVersions = ['3.1', '3.0'] as const;
export type OpenApiVersion = (typeof openApiVersions)[number];

/** An OpenAPI document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1' | '3.0.3';
  readonly info: JsonSchema;
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly [member: string]: unknown;
}

interface DocumentParts {
  /** The product's version. */
  readonly version: string;
  /** All services' declared routes. */
  readonly routes: readonly RouteManifest[];
  /** What the services describe in addition to the routes. */
  readonly descriptions: readonly ServiceDescription[];
}

const about = `Records in collections that are defined at runtime, sign-in, and signed webhooks.

Success is \`{data: …}\`; a list has \`page\`, \`perPage\`, \`totalItems\` and \`totalPages\` next to it. Refusals are
\`{error, code, details?}\`. Times are unix seconds. The collections listed here are those that the caller of
\`/api/v1/openapi.json\` may use: without a token the public ones, with a user's token also those with a rule, with an
admin's token all.`;

const bearer = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };

/** Described tags come first, in their order. Others follow. */
const places = new Map(Object.keys(tagDescriptions).map((name, place) => [name, place]));
const byPlace = (one: string, other: string): number =>
  (places.get(one) ?? places.size) - (places.get(other) ?? places.size);

/** Composes the API document from the services' routes and descriptions, in time slices. */
export async function composeDocument({ version, routes, descriptions }: DocumentParts): Promise<OpenApiDocument> {
  const all = [...routes, ...descriptions.flatMap((description) => description.routes)];
  const components = createComponents(
    Object.assign({ Error: errorSchema }, ...descriptions.map(({ schemas }) => schemas)),
  );
  const paths: Record<string, Record<string, unknown>> = {};
  for await (const route of inSlices(all)) {
    const path = canonicalPath(route);
    const item = paths[templateOf(path)] ?? {};
    item[route.method.toLowerCase()] = operationOf(route, path, components);
    paths[templateOf(path)] = item;
  }
  const ownTags: Record<string, string> = Object.assign({}, ...descriptions.map(({ tags }) => tags));
  const described: Readonly<Record<string, string>> = { ...tagDescriptions, ...ownTags };
  const used = [...new Set(all.map(tagOf))];
  const groups = [
    { name: 'Collections', tags: used.filter((name) => Object.hasOwn(ownTags, name)) },
    { name: 'API', tags: used.filter((name) => !Object.hasOwn(ownTags, name)).sort(byPlace) },
  ].filter(({ tags }) => tags.length > 0);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Recordbus',
      version,
      description: about,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    // The caller's own collections come first. Pages for people group tags by `x-tagGroups`.
    tags: groups.flatMap(({ tags }) => tags.map((name) => ({ name, description: described[name] ?? name }))),
    'x-tagGroups': groups,
    paths,
    components: {
      securitySchemes: {
        user: { ...bearer, description: 'A token from a sign-in as a user.' },
        admin: { ...bearer, description: 'A token from a sign-in as an admin.' },
        key: { type: 'http', scheme: 'bearer', description: 'A service key, `rbk_…`, with the named scope.' },
      },
      parameters: idempotencyParameters,
      headers,
      responses: commonResponses,
      schemas: components.schemas,
    },
  };
}
