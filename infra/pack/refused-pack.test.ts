import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { packageNames } from './pack-package.ts';

const root = join(import.meta.dirname, '../..');
const target = mkdtempSync(join(tmpdir(), 'recordbus-refused-pack-'));
after(() => rmSync(target, { recursive: true }));

const npm = (args: readonly string[], cwd: string) => spawnSync('npm', args, { cwd, encoding: 'utf8' });

for (const name of packageNames) {
  const folder = join(root, 'libs', name);
  const pack = ['pack', '--pack-destination', target];
  for (const { args, cwd } of [
    { args: pack, cwd: folder },
    { args: [...pack, '--no-ignore-scripts'], cwd: folder },
    { args: [...pack, '--workspace', `@recordbus/${name}`], cwd: root },
    { args: [...pack, folder], cwd: target },
  ])
    test(`npm ${args.slice(3).join(' ')} packs no sources of ${name} in ${cwd}`, () => {
      const { status, stderr } = npm(args, cwd);
      assert.notEqual(status, 0);
      assert.match(stderr, /Invalid package, must have name and version/);
      assert.deepEqual(readdirSync(target), []);
    });

  test(`npm publishes no sources of ${name}`, () => {
    const { status, stdout, stderr } = npm(['publish', '--dry-run'], folder);
    assert.ok(status !== 0 || /marked as private/.test(stderr), stderr);
    assert.doesNotMatch(stdout, /^\+ /m);
  });

  test(`the manifest of ${name} names the command that packs it`, () => {
    const manifest: { readonly '//': string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    assert.match(manifest['//'], /`npm run pack`/);
  });
}
