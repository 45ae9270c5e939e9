import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root, run } from '../../pack/npm-pack.ts';
import { packCli } from '../../pack/pack-cli.ts';
import { packageNames, packPackage } from '../../pack/pack-package.ts';
import type { Step, StepReport } from '../make-release.ts';
import { answerOf, installed } from '../programs.ts';
import { startPackage } from './start-package.ts';

/** Packs what people install from npm, and starts the stack from the packed command line. */
export async function makePackages({ version, target }: Step): Promise<StepReport> {
  const libraries = packageNames.map((name) => packPackage(name, target));
  for (const tarball of libraries) {
    run(installed('publint'), ['run', '--strict', tarball], root);
    run(installed('attw'), [tarball, '--profile', 'esm-only'], root);
  }
  const cli = packCli(target);
  run(installed('publint'), ['run', '--strict', cli], root);
  const tarballs = [...libraries, cli];
  for (const tarball of tarballs) checkManifest(tarball, version);
  const startedInMs = await startPackage(cli, version);
  return {
    checked: [
      ...tarballs.map((tarball) => `${basename(tarball)}: publint, version and MIT licence`),
      'attw accepts the libraries',
      `recordbus start runs the stack in an empty folder, ready in ${(startedInMs / 1000).toFixed(0)} s with the installation`,
    ],
  };
}

function checkManifest(tarball: string, version: string): void {
  const manifest: { readonly version: string; readonly license: string } = JSON.parse(
    run('tar', ['-xzOf', tarball, 'package/package.json'], root),
  );
  if (manifest.version !== version) throw new Error(`${tarball} has the version ${manifest.version}.`);
  if (manifest.license !== 'MIT') throw new Error(`${tarball} has the licence ${manifest.license}.`);
}

/** Builds nats-server for the platforms that npm lacks, and packs it. */
export function makeServers({ target }: Step): StepReport {
  if (answerOf('go', ['version']) === undefined)
    return { checked: [], leftOut: 'the nats-server packages: there is no Go on PATH.' };
  const sums = run(process.execPath, [join(root, 'infra/nats-server/main.ts'), target], root);
  // SHA256SUMS has them too.
  rmSync(join(target, 'nats-server-SHA256SUMS'));
  return {
    checked: sums
      .trim()
      .split('\n')
      .map((line) => line.split('  ')[1] ?? ''),
  };
}
