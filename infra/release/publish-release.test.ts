import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { publishCommands, publishRelease } from './publish-release.ts';

const names = [
  'notes.md',
  'recordbus-0.2.0.spdx.json',
  'recordbus-0.2.0.tgz',
  'recordbus-chart-0.2.0.tgz',
  'recordbus-client-0.2.0.tgz',
  'recordbus-extensions-0.2.0.tgz',
  'recordbus-image-0.2.0.oci.tar',
  'recordbus-nats-server-linux-x64-2.14.0.tgz',
];
const files = names.map((name) => ({ name, sha256: '' }));

test('each package is published once, the command line after the servers that it needs', () => {
  const commands = publishCommands({ version: '0.2.0', files }, 'dist');
  const published = commands.filter(([program]) => program === 'npm').map(([, , path]) => path);
  assert.deepEqual(published, [
    'dist/recordbus-nats-server-linux-x64-2.14.0.tgz',
    'dist/recordbus-client-0.2.0.tgz',
    'dist/recordbus-extensions-0.2.0.tgz',
    'dist/recordbus-0.2.0.tgz',
  ]);
  assert.ok(commands.filter(([program]) => program === 'npm').every((command) => command.includes('--provenance')));
});

test('the GitHub release comes last, since running stacks look for it', () => {
  const commands = publishCommands({ version: '0.2.0', files }, 'dist');
  assert.deepEqual(
    commands.map(([program]) => program),
    ['npm', 'npm', 'npm', 'npm', 'skopeo', 'skopeo', 'helm', 'gh'],
  );
  const release: readonly string[] = commands.at(-1) ?? [];
  assert.ok(release.includes('dist/SHA256SUMS') && release.includes('--verify-tag'));
  assert.ok(!release.includes('--prerelease') && !release.some((argument) => argument.endsWith('.oci.tar')));
});

test('a pre-release is no default: not latest on npm, no image tag latest', () => {
  const text = JSON.stringify(publishCommands({ version: '0.3.0-rc.1', files }, 'dist'));
  assert.doesNotMatch(text, /latest/);
  assert.match(text, /--prerelease/);
});

/** A folder with one file and the release's description. */
function makeFolder(t: TestContext, change: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'recordbus-publish-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'notes.md'), 'notes');
  const sha256 = createHash('sha256').update('notes').digest('hex');
  const release = {
    version: '0.0.0-none',
    commit: 'x',
    isClean: true,
    leftOut: [],
    files: [{ name: 'notes.md', sha256 }],
  };
  writeFileSync(join(folder, 'release.json'), JSON.stringify({ ...release, ...change }));
  return folder;
}

for (const [name, change, message] of [
  ['from a changed tree', { isClean: false }, /local changes/],
  ['that is not whole', { leftOut: ['the image: Docker does not answer.'] }, /not whole.*Docker does not answer/],
  ['without its tag', {}, /The tag v0\.0\.0-none is not on x/],
] satisfies [string, object, RegExp][])
  test(`a release ${name} is not published`, (t) => {
    assert.throws(() => publishRelease(makeFolder(t, change)), message);
  });

test('a command without an order publishes nothing', () => {
  const main = join(import.meta.dirname, 'main.ts');
  assert.throws(() => execFileSync(process.execPath, [main], { stdio: 'pipe' }), { status: 2 });
});
