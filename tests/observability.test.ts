import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { at, type JsonObject, listAt, objectAt, textAt } from './harness/json.ts';
import { panelsOf, promqlExpressions, readDashboards, readYaml } from './harness/metrics/observability.ts';
import { repository } from './harness/stacks/stack.ts';

const folder = 'infra/observability';

/** A compose profile's services. */
const profile = (name: string): [string, JsonObject][] =>
  Object.entries(objectAt(readYaml('docker-compose.yml'), 'services') as Record<string, JsonObject>).filter(
    ([, service]) => Array.isArray(service.profiles) && service.profiles.includes(name),
  );

describe('the compose profile observability', () => {
  const services = profile('observability');

  test('has a collector, stores for metrics, traces and logs, and a page for them', () => {
    assert.deepEqual(
      services.map(([name]) => name),
      ['collector', 'prometheus', 'loki', 'tempo', 'grafana'],
    );
    for (const [name, { image }] of services) assert.match(`${image}`, /^[\w/.-]+:v?\d+\.\d+\.\d+$/, name);
  });

  test('mounts only existing files, and opens ports to this machine only', () => {
    for (const [name, { volumes = [], ports = [] }] of services) {
      for (const volume of volumes as string[]) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('./')) assert.ok(existsSync(join(repository, source)), `${name}: ${source}`);
      }
      for (const port of ports as string[]) assert.match(port, /^127\.0\.0\.1:/, name);
    }
  });

  test('sends only to services in the profile', () => {
    const known = new Set(['gateway', ...services.map(([name]) => name)]);
    for (const file of ['collector.yml', 'prometheus.yml', 'grafana/datasources.yml']) {
      const text = readFileSync(join(repository, folder, file), 'utf8');
      for (const [, host = ''] of text.matchAll(/http:\/\/([a-z]+):\d+/g))
        assert.ok(known.has(host), `${file}: ${host}`);
    }
  });

  test("has valid YAML, and the collector's pipelines use only declared parts", () => {
    for (const file of ['tempo.yml', 'loki.yml', 'grafana/dashboards.yml']) assert.ok(readYaml(`${folder}/${file}`));
    const collector = readYaml(`${folder}/collector.yml`);
    for (const [name, pipeline] of Object.entries(objectAt(collector, 'service.pipelines')))
      for (const kind of ['receivers', 'processors', 'exporters'])
        for (const part of listAt(pipeline, kind).map(String))
          assert.ok(at(collector, kind) && Object.hasOwn(objectAt(collector, kind), part), `${name}: ${kind}.${part}`);
  });
});

describe('the dashboards', () => {
  const sources = listAt(readYaml(`${folder}/grafana/datasources.yml`), 'datasources');

  for (const [name, dashboard] of readDashboards()) {
    test(`${name} queries provisioned data sources, and no panels overlap`, () => {
      const uids = sources.map(({ uid }) => uid);
      const panels = panelsOf(dashboard);
      assert.ok(panels.length > 0);
      for (const panel of panels) assert.ok(uids.includes(textAt(panel, 'datasource.uid')), textAt(panel, 'title'));
      for (const key of ['id', 'gridPos']) {
        const values = panels.map((panel) => JSON.stringify(panel[key]));
        assert.equal(new Set(values).size, values.length, key);
      }
    });
  }

  test('link log lines to traces and back', () => {
    const of = (type: string) => sources.find((source) => source.type === type);
    assert.equal(at(of('loki'), 'jsonData.derivedFields.0.datasourceUid'), of('tempo')?.uid);
    assert.equal(at(of('tempo'), 'jsonData.tracesToLogsV2.datasourceUid'), of('loki')?.uid);
  });
});

describe("Prometheus' own tool", () => {
  const isMissing = spawnSync('promtool', ['--version']).error !== undefined;
  const skip = isMissing ? 'promtool is not installed' : false;
  const promtool = (...args: string[]): void => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
    assert.equal(status, 0, `${stdout}${stderr}`);
  };

  test('accepts the alerts', { skip }, () => promtool('check', 'rules', join(repository, folder, 'alerts.yml')));

  test('sees the alerts fire and resolve when they should', { skip }, () =>
    promtool('test', 'rules', join(repository, folder, 'alerts.test.yml')),
  );

  test('accepts the scraped metrics', { skip }, () =>
    promtool('check', 'config', '--syntax-only', join(repository, folder, 'prometheus.yml')),
  );

  test("accepts the dashboards' expressions", { skip }, () => {
    const directory = mkdtempSync(join(tmpdir(), 'recordbus-promtool-'));
    const rules = promqlExpressions().map(({ text }, index) => ({
      record: `expression_${index}`,
      expr: text.replaceAll('$__rate_interval', '1m'),
    }));
    try {
      const file = join(directory, 'rules.json');
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboards', rules }] }));
      promtool('check', 'rules', file);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
