import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSources, readSource, specifiersIn } from './sources.ts';

/**
 * Who may use the NATS client: `libs/bus` for the product, the programs that play another system, and the test that
 * starts a server without the product. Everything else says what it needs in the words of `@recordbus/bus`.
 */
const allowed = ['libs/bus/', 'examples/subscriber/', 'tests/', 'infra/embedded/src/nats.test.ts'];
/** A manifest that lists the client for an allowed test next to it. */
const testManifests = ['infra/embedded/package.json'];

const remedy = 'use @recordbus/bus, and add there what it lacks (docs/architecture.md, "One door to the bus")';

const isAllowed = (file: string): boolean => allowed.some((path) => file.startsWith(path));
const isOfClient = (name: string): boolean => name.startsWith('@nats-io/');

/** Returns a sentence for each import of the NATS client that is not allowed. */
const findImports = (file: string, source: string): string[] =>
  isAllowed(file)
    ? []
    : specifiersIn(source)
        .filter(isOfClient)
        .map((specifier) => `${file} imports ${specifier}: ${remedy}`);

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Returns a sentence for each dependency on the NATS client that is not allowed. */
function findDependencies(file: string, manifest: string): string[] {
  if (isAllowed(file)) return [];
  const { dependencies, devDependencies } = JSON.parse(manifest) as Manifest;
  const names = { ...dependencies, ...(!testManifests.includes(file) && devDependencies) };
  return Object.keys(names)
    .filter(isOfClient)
    .map((name) => `${file} depends on ${name}: ${remedy}`);
}

test('only libs/bus imports the NATS client', () => {
  const files = findSources('{examples,infra,libs,services,tests}/**/*.{ts,js,mjs,cjs,svelte}');
  assert.ok(files.some((file) => isAllowed(file) && specifiersIn(readSource(file)).some(isOfClient)));
  assert.deepEqual(
    files.flatMap((file) => findImports(file, readSource(file))),
    [],
  );
});

test('only libs/bus depends on the NATS client', () => {
  const files = findSources('package.json', '{examples,infra,libs,services,tests}/**/package.json');
  assert.ok(files.includes('libs/bus/package.json'));
  assert.deepEqual(
    files.flatMap((file) => findDependencies(file, readSource(file))),
    [],
  );
});

test('every place that may use the NATS client does', () => {
  const files = findSources('{examples,infra,libs,tests}/**/*.ts');
  const unused = allowed.filter(
    (path) => !files.some((file) => file.startsWith(path) && specifiersIn(readSource(file)).some(isOfClient)),
  );
  assert.deepEqual(unused, []);
});

test('an import and a dependency elsewhere are refused, with the remedy', () => {
  const client = '@nats-io/jetstream';
  const source = `import type { JsMsg } from '${client}';`;
  assert.deepEqual(findImports('services/webhooks/src/app.ts', source), [
    `services/webhooks/src/app.ts imports ${client}: ${remedy}`,
  ]);
  assert.deepEqual(findImports('libs/bus/src/bus.ts', source), []);
  const manifest = '{"devDependencies":{"@nats-io/jetstream":"3.4.0"}}';
  assert.equal(findDependencies('services/webhooks/package.json', manifest).length, 1);
  assert.deepEqual(findDependencies('infra/embedded/package.json', manifest), []);
  assert.equal(findDependencies('infra/embedded/package.json', manifest.replace('devD', 'd')).length, 1);
});
