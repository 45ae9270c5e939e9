import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { documentedVariables } from './harness/docs/documented-variables.ts';
import { objectAt } from './harness/json.ts';
import { repository } from './harness/stacks/stack.ts';

const composition = readFileSync(join(repository, 'docker-compose.yml'), 'utf8');

test('every compose variable is documented', () => {
  const compose: unknown = parse(composition, { merge: true });
  const names = ['gateway', 'auth', 'records', 'admin', 'webhooks', 'realtime'].flatMap((name) =>
    Object.keys(objectAt(compose, `services.${name}.environment`)),
  );
  // OpenTelemetry documents the variables that begin with OTEL_.
  for (const name of names.filter((name) => !name.startsWith('OTEL_')))
    assert.ok(documentedVariables.has(name), `${name} is not in docs/configuration.md`);
});

test('make-env.sh writes every variable that compose requires, and completes an existing .env', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-env-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const script = join(directory, 'infra/compose/make-env.sh');
  cpSync(join(repository, 'infra/compose/make-env.sh'), script);
  const run = () => assert.equal(spawnSync('sh', [script], { encoding: 'utf8' }).stderr, '');
  const written = () => readFileSync(join(directory, '.env'), 'utf8');
  const valueIn = (name: string) => written().match(new RegExp(`^${name}=(.*)$`, 'm'))?.[1];

  writeFileSync(join(directory, '.env'), 'NATS_PASSWORD=earlier\nPUBLISHED_PORT=8090');
  run();
  const required = [...composition.matchAll(/\$\{(\w+):\?run sh infra\/compose\/make-env\.sh/g)];
  assert.ok(required.length > 0);
  for (const [, name] of required) assert.ok(valueIn(String(name)), `${name} is not written`);
  assert.equal(valueIn('NATS_PASSWORD'), 'earlier');
  assert.equal(valueIn('PUBLISHED_PORT'), '8090');
  const eventsBytes = Number(valueIn('SERVICE_EVENTS_MAX_BYTES'));
  assert.ok(eventsBytes >= 2 ** 30 && eventsBytes <= 50 * 2 ** 30, `${eventsBytes} bytes`);
  assert.match(String(valueIn('SERVICE_ENCRYPTION_KEY')), /^[0-9a-f]{64}$/);

  const before = written();
  run();
  assert.equal(written(), before);

  // Values encrypted with a lost key could not be read under a new one.
  writeFileSync(join(directory, '.env'), before.replace(/^SERVICE_ENCRYPTION_KEY=.*\n/m, ''));
  assert.match(spawnSync('sh', [script], { encoding: 'utf8' }).stderr, /SERVICE_ENCRYPTION_KEY is missing/);
  assert.equal(valueIn('SERVICE_ENCRYPTION_KEY'), undefined);
});
