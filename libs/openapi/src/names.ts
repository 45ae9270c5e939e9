import type { RouteManifest } from '@recordbus/shared/http';

/** The path of a route under which the document lists it: that under /api/v1, where it has several. */
export const canonicalPath = ({ paths }: Pick<RouteManifest, 'paths'>): string =>
  paths.find((path) => path.startsWith('/api/v1/')) ?? paths[0] ?? '';

/** The path with its parameters as OpenAPI writes them. */
export const templateOf = (path: string): string => path.replace(/:([^/]+)/g, '{$1}');

/** What stands between /api/v1 and the end, without the version. */
const segmentsOf = (path: string): string[] =>
  path.split('/').filter((segment) => segment !== '' && segment !== 'api' && segment !== 'v1' && segment !== '_');

/**
 * The name of an operation, unique since method and path are: `GET /api/v1/admin/webhooks/:id` is
 * `getAdminWebhooksById`. Without underscores, which set the names of a collection's operations apart.
 */
export function operationIdOf(route: Pick<RouteManifest, 'method' | 'paths' | 'operationId'>): string {
  if (route.operationId) return route.operationId;
  const path = canonicalPath(route);
  const words = segmentsOf(path).map((segment) => (segment.startsWith(':') ? `by-${segment.slice(1)}` : segment));
  const place = path.startsWith('/_/') ? ['inner', ...words] : words;
  return [route.method.toLowerCase(), ...place]
    .join('-')
    .replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string = '') => next.toUpperCase());
}

/** The group of an operation: what its path is about. */
export function tagOf(route: Pick<RouteManifest, 'paths' | 'tag'>): string {
  if (route.tag) return route.tag;
  const [first = 'system', second] = segmentsOf(canonicalPath(route));
  if (first.startsWith(':')) return 'records';
  if (first === 'admin' && second) return ownTags[second] ?? second;
  return ownTags[first] ?? first;
}

/** Paths whose first word is not what people would look for. */
const ownTags: Readonly<Record<string, string>> = {
  setup: 'admins',
  login: 'admins',
  me: 'admins',
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
};
