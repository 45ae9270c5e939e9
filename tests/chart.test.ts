import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Pod } from 'kubernetes-models/v1/Pod';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import { parse, parseAllDocuments } from 'yaml';
import { at, type JsonObject, objectAt, textAt } from './harness/json.ts';
import { kubeconform, missingKubeconform } from './harness/kubeconform.ts';
import { repository } from './harness/stack.ts';

/** The schemas of Kubernetes for the kinds of the chart. */
const kinds: Readonly<Record<string, new (manifest?: never) => { readonly apiVersion: string; validate(): void }>> = {
  ConfigMap,
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

/** The kinds of operators, whose schemas no package has. */
const operatorKinds: Readonly<Record<string, string>> = {
  Cluster: 'postgresql.cnpg.io/v1',
  ScaledObject: 'keda.sh/v1alpha1',
};

const chart = join(repository, 'infra/helm/recordbus');
const values: JsonObject = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));

/** Helm on PATH, or in the directory of `go install`. */
const helm = ['helm', join(homedir(), 'go/bin/helm')].find((path) => spawnSync(path, ['version']).status === 0);
const skip = helm === undefined && 'needs helm on PATH';

const servers = ['secret.databaseUrl=postgres://one/db', 'secret.natsUrl=nats://one:4222'];
const own = ['postgresql.enabled=true', 'nats.enabled=true'];

/** The rendered values: each option on and off, and all of them together. */
const cases: Readonly<Record<string, readonly string[]>> = {
  'servers of the operator': servers,
  'a Secret of the operator': ['secret.existingName=mine'],
  'servers of the chart': own,
  'one server of NATS': ['secret.databaseUrl=postgres://one/db', 'nats.enabled=true', 'nats.replicas=1'],
  'an asynchronous database': [
    ...own,
    'postgresql.synchronous=0',
    'postgresql.storageClass=fast',
    'postgresql.image=pg:18',
  ],
  'KEDA with servers of the operator': [...servers, 'keda.enabled=true', 'keda.natsMonitoring=nats:8222'],
  'an Ingress without TLS': [...servers, 'ingress.enabled=true'],
  'everything off': [
    ...servers,
    ...['autoscaling', 'podDisruptionBudget', 'networkPolicy', 'tests'].map((name) => `${name}.enabled=false`),
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

function runHelm(...args: readonly string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  return spawnSync(helm ?? 'helm', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
}

function render(set: readonly string[], release = 'recordbus'): JsonObject[] {
  const flags = set.flatMap((one) => ['--set', one]);
  const { status, stdout, stderr } = runHelm('template', release, chart, '--kube-version', '1.31.0', ...flags);
  assert.equal(status, 0, stderr);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .filter((manifest) => manifest !== null);
}

const named = (manifests: readonly JsonObject[], kind: string, name: string): JsonObject =>
  manifests.find((manifest) => manifest.kind === kind && at(manifest, 'metadata.name') === name) ??
  assert.fail(`there is no ${kind} ${name}`);

describe('the Helm chart', { skip }, () => {
  test('passes the linter', () => {
    const { status, stdout } = runHelm('lint', chart, '--strict', ...servers.flatMap((one) => ['--set', one]));
    assert.equal(status, 0, stdout);
  });

  for (const [name, set] of Object.entries(cases))
    test(`with ${name} is valid by the schemas of Kubernetes`, () => {
      for (const release of ['recordbus', 'another']) {
        const manifests = render(set, release);
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
      const rendered = Object.values(cases).map((set) => {
        const flags = set.flatMap((one) => ['--set', one]);
        return runHelm('template', 'recordbus', chart, '--kube-version', version, ...flags).stdout;
      });
      const { status, report } = kubeconform(rendered.join('\n'), version, Object.keys(operatorKinds));
      assert.equal(status, 0, report);
      assert.match(report, /Valid: [1-9]\d+, Invalid: 0, Errors: 0/);
    });

  test('runs every service as the plain manifests do', () => {
    const manifests = render(servers);
    for (const service of readdirSync(join(repository, 'services'))) {
      const plain = parseAllDocuments(readFileSync(join(repository, `infra/kubernetes/${service}.yaml`), 'utf8'), {
        merge: true,
      }).map((document): JsonObject => document.toJS());
      const containerOf = (all: readonly JsonObject[]): JsonObject => {
        const {
          image,
          imagePullPolicy,
          envFrom,
          env = [],
          ...container
        } = objectAt(named(all, 'Deployment', service), 'spec.template.spec.containers.0');
        assert.ok(image && envFrom);
        return { ...container, env };
      };
      assert.deepEqual(containerOf(manifests), containerOf(plain), service);
    }
  });

  test('refuses values that cannot work, with a sentence', () => {
    for (const [set, sentence] of [
      [['nats.enabled=true'], /Set secret\.databaseUrl/],
      [['postgresql.enabled=true'], /Set secret\.natsUrl/],
      [[...own, 'nats.replicas=2'], /nats\.replicas must be 1, 3 or 5/],
      [[...own, 'postgresql.instances=1'], /postgresql\.synchronous must be smaller/],
      [[...servers, 'keda.enabled=true'], /Set keda\.natsMonitoring/],
    ] as const) {
      const { status, stderr } = runHelm(
        'template',
        'x',
        chart,
        '--kube-version',
        '1.31.0',
        ...set.flatMap((one) => ['--set', one]),
      );
      assert.equal(status, 1);
      assert.match(stderr, sentence);
    }
  });
});

test('docs/kubernetes.md has every group of values', () => {
  const page = readFileSync(join(repository, 'docs/kubernetes.md'), 'utf8');
  for (const name of Object.keys(values))
    assert.match(page, new RegExp(`^\\| [^|]*\`${name}\\b`, 'm'), `${name} is not documented`);
});
