import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { CronJob } from 'kubernetes-models/batch/v1/CronJob';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Pod } from 'kubernetes-models/v1/Pod';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import { objectAt, textAt } from './harness/json.ts';
import {
  chart,
  chartValues,
  missingHelm,
  operatorServers,
  renderChart,
  runHelm,
  runTemplate,
} from './harness/servers/helm-chart.ts';
import { kubeconform, missingKubeconform } from './harness/servers/kubeconform.ts';
import { repository } from './harness/stacks/stack.ts';

/** Kubernetes' schemas for the chart's kinds. */
const kinds: Readonly<Record<string, new (manifest?: never) => { readonly apiVersion: string; validate(): void }>> = {
  ConfigMap,
  CronJob,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  NetworkPolicy,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
};

/** Operators' kinds, whose schemas no package has. */
const operatorKinds: Readonly<Record<string, string>> = {
  Cluster: 'postgresql.cnpg.io/v1',
  ScaledObject: 'keda.sh/v1alpha1',
};

const own = ['postgresql.enabled=true', 'nats.enabled=true'];

/** The rendered values: each option on and off, and all together. */
const cases: Readonly<Record<string, readonly string[]>> = {
  'servers of the operator': operatorServers,
  'a Secret of the operator': ['secret.existingName=mine'],
  'servers of the chart': own,
  'one server of NATS': ['secret.databaseUrl=postgres://one/db', 'nats.enabled=true', 'nats.replicas=1'],
  'an asynchronous database': [
    ...own,
    'postgresql.synchronous=0',
    'postgresql.storageClass=fast',
    'postgresql.image=pg:18',
  ],
  'KEDA with servers of the operator': [...operatorServers, 'keda.enabled=true', 'keda.natsMonitoring=nats:8222'],
  'an Ingress without TLS': [...operatorServers, 'ingress.enabled=true'],
  'everything off': [
    ...operatorServers,
    ...['autoscaling', 'podDisruptionBudget', 'networkPolicy', 'tests', 'cli'].map((name) => `${name}.enabled=false`),
  ],
  'everything on': [
    ...own,
    'keda.enabled=true',
    'ingress.enabled=true',
    'ingress.tlsSecret=certificate',
    'nats.storageClass=fast',
    'podAnnotations.note=x',
    'nodeSelector.disk=ssd',
    'image.pullSecrets[0].name=registry',
    'tolerations[0].operator=Exists',
  ],
};

describe('the Helm chart', { skip: missingHelm }, () => {
  test('passes the linter', () => {
    const { status, stdout } = runHelm('lint', chart, '--strict', ...operatorServers.flatMap((one) => ['--set', one]));
    assert.equal(status, 0, stdout);
  });

  for (const [name, set] of Object.entries(cases))
    test(`with ${name} is valid by Kubernetes' schemas`, () => {
      for (const release of ['recordbus', 'another']) {
        const manifests = renderChart(set, release);
        const ids = manifests.map((manifest) => `${manifest.kind} ${textAt(manifest, 'metadata.name')}`);
        assert.deepEqual([...new Set(ids)], ids, 'two manifests have one name');
        for (const manifest of manifests) {
          const kind = String(manifest.kind);
          const Kind = kinds[kind];
          assert.equal(manifest.apiVersion, Kind ? new Kind().apiVersion : operatorKinds[kind], kind);
          if (Kind) assert.doesNotThrow(() => new Kind(manifest as never).validate(), ids.join(', '));
        }
      }
    });

  /** The oldest version that the chart supports, and the newest one with schemas. */
  for (const version of ['1.27.0', '1.37.0'])
    test(`is valid for kubeconform with every member known to Kubernetes ${version}`, {
      skip: missingKubeconform,
    }, () => {
      const rendered = Object.values(cases).map((set) => runTemplate(set, 'recordbus', version).stdout);
      const { status, report } = kubeconform(rendered.join('\n'), version, Object.keys(operatorKinds));
      assert.equal(status, 0, report);
      assert.match(report, /Valid: [1-9]\d+, Invalid: 0, Errors: 0/);
    });

  test('refuses values that cannot work, with a sentence', () => {
    for (const [set, sentence] of [
      [['nats.enabled=true'], /Set secret\.databaseUrl/],
      [['postgresql.enabled=true'], /Set secret\.natsUrl/],
      [[...own, 'nats.replicas=2'], /nats\.replicas must be 1, 3 or 5/],
      [[...own, 'postgresql.instances=1'], /postgresql\.synchronous must be smaller/],
      [[...operatorServers, 'keda.enabled=true'], /Set keda\.natsMonitoring/],
    ] as const) {
      const { status, stderr } = runTemplate(set, 'x');
      assert.equal(status, 1);
      assert.match(stderr, sentence);
    }
  });
});

test('docs/kubernetes.md has every value group', () => {
  const page = readFileSync(join(repository, 'docs/kubernetes.md'), 'utf8');
  for (const name of Object.keys(chartValues))
    assert.match(page, new RegExp(`^\\| [^|]*\`${name}\\b`, 'm'), `${name} is not documented`);
});

test('the memory limits hold all that requests may take', () => {
  const page = readFileSync(join(repository, 'docs/kubernetes.md'), 'utf8');
  const variables = readFileSync(join(repository, 'docs/configuration.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (gateway|auth|records) \| (\d+) \|(.*)\|$/gm)];
  assert.equal(rows.length, 3);
  for (const [, service = '', limit = '', parts = ''] of rows) {
    const values = objectAt(chartValues, `services.${service}.resources.limits`);
    const mebibytes = /^(\d+)(Mi|Gi)$/.exec(textAt(values, 'memory')) ?? assert.fail(service);
    assert.equal(Number(mebibytes[1]) * (mebibytes[2] === 'Gi' ? 1024 : 1), Number(limit), service);
    const sum = parts.split('|').reduce((total, part) => total + Number(part), 0);
    assert.ok(sum <= Number(limit), `${service} may take ${sum} MiB`);
  }
  const budget = /SERVICE_PREVIEWS_MEMORY_MB`.*?(\d+) by default/.exec(variables)?.[1];
  const columns = rows.at(-1)?.[3]?.split('|').map(Number) ?? [];
  assert.equal(columns[3], Number(budget), 'the images decoded are the budget of previews');
});
