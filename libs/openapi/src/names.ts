import type { RouteManifest } from '@recordbus/http';

/** Returns the path under which the document lists a route: the one below /api/v1 if it has several. */
export const canonicalPath = ({ paths }: Pick<RouteManifest, 'paths'>): string =>
  paths.find((path) => path.startsWith('/api/v1/')) ?? paths[0] ?? '';

/** Converts a path's parameters to OpenAPI's syntax. */
export const templateOf = (path: string): string => path.replace(/:([^/]+)/g, '{$1}');

/** A path's segments without `api` and the version. */
const segmentsOf = (path: string): string[] =>
  path.split('/').filter((segment) => segment !== '' && segment !== 'api' && segment !== 'v1' && segment !== '_');

/**
 * Returns an operation's id, unique since method and path are: `GET /api/v1/admin/webhooks/:id` is
 * `getAdminWebhooksById`. It has no underscores, unlike the ids of a collection's operations.
 */
export function operationIdOf(route: Pick<RouteManifest, 'method' | 'paths' | 'operationId'>): string {
  if (route.operationId) return route.operationId;
  const path = canonicalPath(route);
  const words = segmentsOf(path).map((segment) => (segment.startsWith(':') ? `by-${segment.slice(1)}` : segment));
  const allWords = path.startsWith('/_/') ? ['inner', ...words] : words;
  return [route.method.toLowerCase(), ...allWords]
    .join('-')
    .replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string = '') => next.toUpperCase());
}

/**
 * Returns the name of the component with an operation's body or answer: `PostAdminKeysAnswer`, and for an operation on
 * a collection `posts.listAnswer`. Only collection names and their components have a dot or an underscore.
 */
export function componentName(
  route: Pick<RouteManifest, 'method' | 'paths' | 'operationId'>,
  part: 'Answer' | 'Body',
): string {
  const id = operationIdOf(route);
  const [, operation, collection] = /^([a-z]+)_(.+)$/.exec(id) ?? [];
  if (collection !== undefined) return `${collection}.${operation}${part}`;
  return `${id.slice(0, 1).toUpperCase()}${id.slice(1)}${part}`;
}

/** Returns an operation's tag: its path's subject. */
export function tagOf(route: Pick<RouteManifest, 'paths' | 'tag'>): string {
  if (route.tag) return route.tag;
  const [first = 'system', second] = segmentsOf(canonicalPath(route));
  if (first.startsWith(':')) return 'records';
  if (first === 'admin' && second) return ownTags[second] ?? second;
  return ownTags[first] ?? first;
}

/** Tags for paths whose first word is not their subject. */
const ownTags: Readonly<Record<string, string>> = {
  setup: 'admins',
  login: 'admins',
  logout: 'admins',
  me: 'admins',
  totp: 'admins',
  sessions: 'admins',
  impersonate: 'admins',
  theme: 'settings',
  migrations: 'snapshots',
  collections: 'collections',
  x: 'extensions',
  healthz: 'health',
  readyz: 'health',
  'openapi.json': 'reference',
  docs: 'reference',
  assets: 'pages',
  system: 'pages',
};
