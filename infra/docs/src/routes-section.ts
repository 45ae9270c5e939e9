import type { RouteManifest } from '@recordbus/http';
import { canonicalPath, tagDescriptions, tagOf } from '@recordbus/openapi';
import { declaredRoutes } from './declared-routes.ts';
import type { Section } from './section.ts';
import { code, table } from './table.ts';

/** Builds the route tables by subject, from the declarations. */
export const routesSection: Section = {
  page: 'api.md',
  name: 'routes',
  text() {
    const groups = Map.groupBy(declaredRoutes(), tagOf);
    return [...groups]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([tag, routes]) => group(tag, routes))
      .join('\n\n');
  },
};

const group = (tag: string, routes: readonly RouteManifest[]): string =>
  [
    `### ${tag.slice(0, 1).toUpperCase()}${tag.slice(1)}`,
    tagDescriptions[tag] ?? '',
    table(
      ['route', 'who', 'key scope', 'rate limit action', 'what it does', 'answers'],
      routes.map((route) => [
        code(`${route.method} ${canonicalPath(route)}`),
        route.access,
        route.scope === 'any' || route.scope === 'none' ? route.scope : code(route.scope),
        [route.action, route.otherAction].flatMap((action) => (action ? [code(action)] : [])).join(', '),
        `${route.summary}${route.idempotent ? ' (once per idempotency key)' : ''}`,
        Object.keys(route.answers).join(', '),
      ]),
    ),
  ].join('\n\n');
