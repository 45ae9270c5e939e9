import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { documentedVariables } from './harness/docs/documented-variables.ts';
import { at, type JsonObject, listAt, objectAt, textAt } from './harness/json.ts';
import { chartValues, missingHelm, operatorServers, renderChart } from './harness/servers/helm-chart.ts';
import { repository } from './harness/stacks/stack.ts';

const services = readdirSync(join(repository, 'services')).sort();
const dockerfile = readFileSync(join(repository, 'infra/docker/Dockerfile'), 'utf8');
const label = 'app.kubernetes.io/name';

const nameOf = (manifest: JsonObject): string => textAt(manifest, 'metadata.name');
const containerOf = (deployment: JsonObject): JsonObject => objectAt(deployment, 'spec.template.spec.containers.0');

test('the values have each service, and variables that are documented', () => {
  assert.deepEqual(Object.keys(objectAt(chartValues, 'services')).sort(), services);
  for (const name of Object.keys(objectAt(chartValues, 'config')))
    assert.ok(documentedVariables.has(name), `${name} is not in docs/configuration.md`);
});

describe("the Helm chart's services", { skip: missingHelm }, () => {
  const manifests = missingHelm
    ? []
    : renderChart([...operatorServers, 'secret.storageAccessKey=one', 'secret.storageSecretKey=two']);
  const ofKind = (kind: string): JsonObject[] => manifests.filter((manifest) => manifest.kind === kind);
  const deployments = ofKind('Deployment');
  const deploymentOf = (name: string): JsonObject =>
    deployments.find((deployment) => nameOf(deployment) === name) ?? assert.fail(`there is no Deployment ${name}`);
  const port = (): number => Number(textAt(ofKind('ConfigMap')[0], 'data.SERVICE_PORT'));

  test('every service has a deployment, which runs a file in the image', () => {
    assert.deepEqual(deployments.map(nameOf).sort(), services);
    for (const deployment of deployments) {
      const file = `services/${nameOf(deployment)}/src/main.ts`;
      assert.deepEqual(containerOf(deployment).args, [file]);
      assert.ok(existsSync(join(repository, file)));
    }
    assert.match(dockerfile, /^COPY services services$/m);
  });

  test('ports agree, and every probe requests a path that the services have', () => {
    assert.match(dockerfile, new RegExp(`SERVICE_PORT=${port()}\\b`));
    for (const deployment of deployments) {
      assert.deepEqual(containerOf(deployment).ports, [{ name: 'http', containerPort: port() }]);
      for (const [probe, path] of [
        ['startupProbe', '/healthz'],
        ['livenessProbe', '/healthz'],
        ['readinessProbe', '/readyz'],
      ] as const)
        assert.deepEqual(at(containerOf(deployment), `${probe}.httpGet`), { path, port: 'http' });
    }
    for (const service of ofKind('Service'))
      for (const { port: number, targetPort } of listAt(service, 'spec.ports')) {
        assert.equal(targetPort, 'http');
        // A headless service leads directly to the pods' port.
        if (at(service, 'spec.clusterIP') === 'None') assert.equal(number, port());
      }
  });

  test('a service knows the addresses of those that it calls', () => {
    const called = { gateway: services.filter((name) => name !== 'gateway'), auth: ['records'], realtime: ['records'] };
    for (const [name, expected] of Object.entries(called)) {
      const addresses = listAt(containerOf(deploymentOf(name)), 'env').map((variable) => {
        const { hostname, port: requested } = new URL(textAt(variable, 'value'));
        assert.equal(variable.name, `SERVICE_${hostname.toUpperCase()}_URL`);
        assert.equal(Number(requested), port());
        return hostname;
      });
      assert.deepEqual(addresses.sort(), expected);
    }
  });

  test('labels, scalers, budgets and policies refer to existing deployments', () => {
    for (const deployment of deployments) {
      const labels = objectAt(deployment, 'spec.template.metadata.labels');
      assert.deepEqual(objectAt(deployment, 'spec.selector.matchLabels'), labels);
      assert.equal(labels[label], nameOf(deployment));
    }
    for (const service of ofKind('Service')) assert.equal(objectAt(service, 'spec.selector')[label], nameOf(service));
    const budgets = ofKind('PodDisruptionBudget').map((budget) => objectAt(budget, 'spec.selector.matchLabels')[label]);
    assert.deepEqual(budgets.sort(), services);
    for (const scaler of ofKind('HorizontalPodAutoscaler')) {
      const target = deploymentOf(textAt(scaler, 'spec.scaleTargetRef.name'));
      // A fixed number of replicas would undo the scaler's work at every upgrade.
      assert.equal(at(target, 'spec.replicas'), undefined);
      assert.ok(at(containerOf(target), 'resources.requests.cpu'), 'utilisation is relative to the request');
    }
    const guarded = ofKind('NetworkPolicy').flatMap(
      (policy) => at(policy, 'spec.podSelector.matchExpressions.0.values') ?? [],
    );
    assert.deepEqual(
      guarded.sort(),
      services.filter((name) => name !== 'gateway'),
    );
  });

  test('every variable is documented, and in the Secret or in the ConfigMap', () => {
    const open = Object.keys(objectAt(ofKind('ConfigMap')[0], 'data'));
    const secret = Object.keys(objectAt(ofKind('Secret')[0], 'stringData'));
    assert.ok(
      ['SERVICE_DATABASE_URL', 'SERVICE_NATS_URL', 'SERVICE_JWT_SECRET'].every((name) => secret.includes(name)),
    );
    for (const name of [...open, ...secret])
      assert.ok(documentedVariables.has(name), `${name} is not in docs/configuration.md`);
    assert.deepEqual(
      secret.filter((name) => open.includes(name)),
      [],
    );
  });

  test('the command line has its own job, with a key only if there is one', () => {
    const [job = {}, ...more] = ofKind('CronJob');
    assert.deepEqual(more, []);
    assert.equal(at(job, 'spec.suspend'), true);
    const cli = objectAt(job, 'spec.jobTemplate.spec.template.spec.containers.0');
    assert.equal(textAt(cli, 'command.0'), 'node');
    assert.ok(existsSync(join(repository, textAt(cli, 'command.1'))));
    const [key] = listAt(cli, 'env');
    assert.equal(key?.name, 'SERVICE_KEY');
    assert.deepEqual(at(key, 'valueFrom.secretKeyRef'), { name: 'recordbus-key', key: 'SERVICE_KEY', optional: true });
    assert.ok(documentedVariables.has('SERVICE_KEY'));
    for (const deployment of deployments) assert.doesNotMatch(JSON.stringify(deployment), /SERVICE_KEY|recordbus-key/);
  });
});
