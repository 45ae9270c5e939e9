import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { CronJob } from 'kubernetes-models/batch/v1/CronJob';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Service } from 'kubernetes-models/v1/Service';
import { parse, parseAllDocuments } from 'yaml';
import { at, type JsonObject, listAt, objectAt, textAt } from './harness/json.ts';
import { repository } from './harness/stack.ts';

/** The schemas of Kubernetes for the kinds in the manifests. */
const kinds = {
  ConfigMap,
  CronJob,
  Deployment,
  HorizontalPodAutoscaler,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
} as const;

const folder = join(repository, 'infra/kubernetes');
const read = (path: string): string => readFileSync(join(repository, path), 'utf8');
const manifestsOf = (file: string): JsonObject[] =>
  parseAllDocuments(readFileSync(join(folder, file), 'utf8'), { merge: true }).map((document) => document.toJS());

const files = readdirSync(folder).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml');
const manifests = files.flatMap(manifestsOf);
const ofKind = (kind: string): JsonObject[] => manifests.filter((manifest) => manifest.kind === kind);
const nameOf = (manifest: JsonObject): string => textAt(manifest, 'metadata.name');
const deployments = ofKind('Deployment');
const container = (deployment: JsonObject): JsonObject => objectAt(deployment, 'spec.template.spec.containers.0');

/** Returns the errors of the type checker for manifests as literals of their kinds' types; the schemas allow unknown keys. */
function typeErrorsOf(documents: readonly JsonObject[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-manifests-'));
  try {
    symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'));
    const imports = Object.entries(kinds).map(
      ([kind, Kind]) => `import type { I${kind} } from 'kubernetes-models/${new Kind().apiVersion}/${kind}';`,
    );
    const literals = documents.map(
      (document, index) => `export const _${index}: I${document.kind} = ${JSON.stringify(document, null, 1)};`,
    );
    writeFileSync(join(directory, 'manifests.ts'), [...imports, ...literals].join('\n'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext'];
    const tsc = join(repository, 'node_modules/typescript/bin/tsc');
    const { error, stdout, stderr } = spawnSync(process.execPath, [tsc, ...options, 'manifests.ts'], {
      cwd: directory,
      encoding: 'utf8',
    });
    assert.equal(error, undefined);
    return `${stdout}${stderr}`;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The variables of the services, and of the command line. */
const documented = new Set(`${read('docs/configuration.md')}${read('docs/cli.md')}`.match(/\bSERVICE_[A-Z_]+\b/g));

test('every manifest is listed, and valid by the schema of its kind', () => {
  const listed: unknown = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'));
  assert.deepEqual([...(at(listed, 'resources') as string[])].sort(), files.sort());
  for (const manifest of manifests) {
    const Kind = Object.entries(kinds).find(([kind]) => kind === manifest.kind)?.[1];
    assert.ok(Kind, `there is no schema for ${manifest.kind}`);
    assert.equal(manifest.apiVersion, new Kind().apiVersion);
    assert.doesNotThrow(() => new Kind(manifest as never).validate(), `${manifest.kind} ${nameOf(manifest)}`);
  }
});

test('no manifest has a key unknown to Kubernetes', () => {
  assert.equal(typeErrorsOf(manifests), '');
  const misspelt = JSON.parse(JSON.stringify(deployments[0]).replace('periodSeconds', 'periodSecond'));
  assert.match(typeErrorsOf([misspelt]), /'"periodSecond"' does not exist in type 'IProbe'/);
});

test('every service has a deployment, which runs a file of the image', () => {
  assert.deepEqual(deployments.map(nameOf).sort(), readdirSync(join(repository, 'services')).sort());
  const dockerfile = read('infra/docker/Dockerfile');
  for (const deployment of deployments) {
    assert.deepEqual(container(deployment).args, [`services/${nameOf(deployment)}/src/main.ts`]);
    assert.ok(existsSync(join(repository, String(at(container(deployment), 'args.0')))));
  }
  assert.match(dockerfile, /^COPY services services$/m);
});

test('ports agree, and every probe requests a path of the services', () => {
  const port = Number(textAt(ofKind('ConfigMap')[0], 'data.SERVICE_PORT'));
  assert.match(read('infra/docker/Dockerfile'), new RegExp(`SERVICE_PORT=${port}\\b`));
  for (const deployment of deployments) {
    assert.deepEqual(container(deployment).ports, [{ name: 'http', containerPort: port }]);
    for (const [probe, path] of [
      ['startupProbe', '/healthz'],
      ['livenessProbe', '/healthz'],
      ['readinessProbe', '/readyz'],
    ] as const)
      assert.deepEqual(at(container(deployment), `${probe}.httpGet`), { path, port: 'http' });
  }
  for (const service of ofKind('Service'))
    for (const { port: number, targetPort } of listAt(service, 'spec.ports')) {
      assert.equal(targetPort, 'http');
      // A headless service leads directly to the port of the pods.
      if (at(service, 'spec.clusterIP') === 'None') assert.equal(number, port);
    }
  const inner = listAt(container(deployments.find((one) => nameOf(one) === 'gateway') ?? {}), 'env');
  for (const { name, value } of inner) {
    const { hostname, port: requested } = new URL(String(value));
    assert.equal(name, `SERVICE_${hostname.toUpperCase()}_URL`);
    assert.ok(ofKind('Service').some((service) => nameOf(service) === hostname && Number(requested) === port));
  }
});

test('labels, scalers, budgets and policies refer to existing deployments', () => {
  const label = 'app.kubernetes.io/name';
  const names = deployments.map(nameOf);
  for (const deployment of deployments) {
    const labels = objectAt(deployment, 'spec.template.metadata.labels');
    assert.deepEqual(objectAt(deployment, 'spec.selector.matchLabels'), labels);
    assert.equal(labels[label], nameOf(deployment));
  }
  for (const service of ofKind('Service')) assert.equal(objectAt(service, 'spec.selector')[label], nameOf(service));
  for (const budget of ofKind('PodDisruptionBudget'))
    assert.ok(names.includes(String(objectAt(budget, 'spec.selector.matchLabels')[label])));
  assert.deepEqual(ofKind('PodDisruptionBudget').map(nameOf).sort(), names.sort());
  for (const scaler of ofKind('HorizontalPodAutoscaler')) {
    const target = deployments.find((one) => nameOf(one) === textAt(scaler, 'spec.scaleTargetRef.name'));
    // A fixed number of replicas would undo the work of the scaler at every apply.
    assert.equal(at(target, 'spec.replicas'), undefined);
    assert.ok(at(container(target ?? {}), 'resources.requests.cpu'), 'utilisation is relative to the request');
  }
  const guarded = ofKind('NetworkPolicy').flatMap(
    (policy) => at(policy, 'spec.podSelector.matchExpressions.0.values') ?? [],
  );
  assert.deepEqual(guarded.sort(), names.filter((name) => name !== 'gateway').sort());
});

test('every variable of the manifests and of compose is documented', () => {
  const ofManifests = [
    ...Object.keys(objectAt(ofKind('ConfigMap')[0], 'data')),
    ...listAt(container(deployments.find((one) => nameOf(one) === 'gateway') ?? {}), 'env').map(({ name }) =>
      String(name),
    ),
  ];
  const compose: unknown = parse(read('docker-compose.yml'), { merge: true });
  const ofCompose = ['gateway', 'auth', 'records', 'admin', 'webhooks', 'realtime'].flatMap((name) =>
    Object.keys(objectAt(compose, `services.${name}.environment`)),
  );
  // OpenTelemetry documents the variables that begin with OTEL_.
  for (const name of [...ofManifests, ...ofCompose].filter((name) => !name.startsWith('OTEL_')))
    assert.ok(documented.has(name), `${name} is not in docs/configuration.md`);
});

test('the Secret of docs/operations.md has documented variables, and none that the manifests set', () => {
  const made = [...read('docs/operations.md').matchAll(/--from-literal=(\w+)=/g)].map(([, name]) => String(name));
  assert.ok(['SERVICE_DATABASE_URL', 'SERVICE_NATS_URL', 'SERVICE_JWT_SECRET'].every((name) => made.includes(name)));
  for (const name of made) {
    assert.ok(documented.has(name), `${name} is not in docs/configuration.md`);
    assert.equal(at(ofKind('ConfigMap')[0], `data.${name}`), undefined);
  }
});

test('make-env.sh writes every variable that compose requires, and completes an existing .env', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-env-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const script = join(directory, 'infra/compose/make-env.sh');
  cpSync(join(repository, 'infra/compose/make-env.sh'), script);
  const run = () => assert.equal(spawnSync('sh', [script], { encoding: 'utf8' }).stderr, '');
  const written = () => readFileSync(join(directory, '.env'), 'utf8');
  const valueIn = (name: string) => written().match(new RegExp(`^${name}=(.*)$`, 'm'))?.[1];

  writeFileSync(join(directory, '.env'), 'POSTGRES_PASSWORD=earlier\nPUBLISHED_PORT=8090');
  run();
  const required = [...read('docker-compose.yml').matchAll(/\$\{(\w+):\?run sh infra\/compose\/make-env\.sh/g)];
  assert.ok(required.length > 0);
  for (const [, name] of required) assert.ok(valueIn(String(name)), `${name} is not written`);
  assert.equal(valueIn('POSTGRES_PASSWORD'), 'earlier');
  assert.equal(valueIn('PUBLISHED_PORT'), '8090');
  const eventsBytes = Number(valueIn('SERVICE_EVENTS_MAX_BYTES'));
  assert.ok(eventsBytes >= 2 ** 30 && eventsBytes <= 50 * 2 ** 30, `${eventsBytes} bytes`);
  assert.match(String(valueIn('SERVICE_ENCRYPTION_KEY')), /^[0-9a-f]{64}$/);

  const before = written();
  run();
  assert.equal(written(), before);
});

test('the command line has its own job, with a key only if there is one', () => {
  const [job, ...more] = ofKind('CronJob');
  assert.deepEqual(more, []);
  assert.equal(at(job, 'spec.suspend'), true);
  const cli = objectAt(job, 'spec.jobTemplate.spec.template.spec.containers.0');
  const [node, file] = cli.command as string[];
  assert.equal(node, 'node');
  assert.ok(existsSync(join(repository, String(file))));
  const [key] = listAt(cli, 'env');
  assert.equal(key?.name, 'SERVICE_KEY');
  assert.deepEqual(at(key, 'valueFrom.secretKeyRef'), { name: 'recordbus-key', key: 'SERVICE_KEY', optional: true });
  assert.ok(documented.has('SERVICE_KEY'));
  for (const deployment of deployments) assert.doesNotMatch(JSON.stringify(deployment), /SERVICE_KEY|recordbus-key/);
});
