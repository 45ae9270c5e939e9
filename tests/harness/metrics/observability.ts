import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type JsonObject, listAt } from '../json.ts';
import { repository } from '../stacks/stack.ts';

const folder = join(repository, 'infra/observability');
const dashboards = join(folder, 'grafana/dashboards');

/** Parses a YAML file in the repository. Throws when it is not valid YAML. */
export const readYaml = (path: string): unknown => parse(readFileSync(join(repository, path), 'utf8'));

/** Returns the dashboards by file name. */
export const readDashboards = (): readonly (readonly [name: string, dashboard: unknown])[] =>
  readdirSync(dashboards).map((name) => [name, JSON.parse(readFileSync(join(dashboards, name), 'utf8'))]);

/** Returns a dashboard's panels, without rows. */
export const panelsOf = (dashboard: unknown): readonly JsonObject[] =>
  listAt(dashboard, 'panels').filter(({ type }) => type !== 'row');

/** Returns every PromQL expression in the dashboards and alerts, with its place. */
export function promqlExpressions(): readonly { readonly where: string; readonly text: string }[] {
  const ofDashboards = readDashboards().flatMap(([name, dashboard]) =>
    panelsOf(dashboard).flatMap(({ title, targets, datasource }) =>
      (datasource as JsonObject).type === 'prometheus'
        ? (targets as JsonObject[]).map(({ expr }) => ({ where: `${name}: ${title}`, text: `${expr}` }))
        : [],
    ),
  );
  const ofAlerts = listAt(readYaml('infra/observability/alerts.yml'), 'groups').flatMap((group) =>
    listAt(group, 'rules').map(({ alert, expr }) => ({ where: `alerts.yml: ${alert}`, text: `${expr}` })),
  );
  return [...ofDashboards, ...ofAlerts];
}

/**
 * Returns the metric names in an expression; a histogram's parts by the histogram's name. A name with several words
 * that is not a function is a metric, since labels have one word.
 */
export const metricsIn = (expression: string): string[] =>
  [...expression.replaceAll(/"[^"]*"/g, '').matchAll(/\b[a-z]+(?:_[a-z0-9]+)+\b(?!\s*\()/g)].map(([name]) =>
    name.replace(/_(?:bucket|sum|count)$/, ''),
  );
