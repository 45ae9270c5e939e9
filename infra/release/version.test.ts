import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { minorOf, readVersion, writeVersion } from './version.ts';

const repository = join(import.meta.dirname, '../..');
const files = [
  'package.json',
  'package-lock.json',
  'libs/process/package.json',
  'infra/helm/recordbus/Chart.yaml',
  'infra/templates',
];

/** A copy of the files with versions. */
function copy(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'recordbus-version-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(join(repository, file), join(root, file), { recursive: true });
  }
  return root;
}

test('this repository has one version', () => {
  assert.match(readVersion(repository), /^\d+\.\d+\.\d+/);
});

test('a version is written everywhere', (t) => {
  const root = copy(t);
  writeVersion(root, '7.8.9');
  assert.equal(readVersion(root), '7.8.9');
});

test('places that differ are named', (t) => {
  const root = copy(t);
  writeVersion(root, '7.8.9');
  cpSync(join(repository, 'infra/helm/recordbus/Chart.yaml'), join(root, 'infra/helm/recordbus/Chart.yaml'));
  assert.throws(() => readVersion(root), /Chart\.yaml has .*, and package\.json 7\.8\.9/);
});

test('another package with a version is named', (t) => {
  const root = copy(t);
  mkdirSync(join(root, 'libs/new'));
  writeFileSync(join(root, 'libs/new/package.json'), '{"name": "@recordbus/new", "version": "0.1.0"}');
  assert.throws(() => readVersion(root), /libs\/new\/package\.json has a version/);
});

for (const version of ['1.2', 'v1.2.3', '1.2.3.4', '01.2.3', '1.2.3+build', ''])
  test(`${JSON.stringify(version)} is not a version`, (t) => {
    assert.throws(() => writeVersion(copy(t), version), /is not a semantic version/);
  });

test('a minor version names the upgrade page', () => {
  assert.equal(minorOf('0.2.1'), '0.2');
  assert.equal(minorOf('1.10.0-rc.1'), '1.10');
});
