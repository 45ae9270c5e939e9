import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from '../../pack/npm-pack.ts';
import type { Step, StepReport } from '../make-release.ts';
import { findProgram } from '../programs.ts';

interface Lock {
  readonly packages: Record<string, { version?: string; readonly link?: boolean }>;
}

interface SpdxDocument {
  readonly spdxVersion: string;
  readonly packages: readonly { readonly SPDXID: string; readonly name: string; readonly versionInfo?: string }[];
}

/** The workspaces that run in production. */
const shipped = ['gateway', 'auth', 'records', 'admin', 'webhooks', 'realtime'].map((name) => `services/${name}`);
const workspaces = [...shipped, 'infra/cli', 'infra/local'];

/** Lists what the product is made of, from the lock file, as an SPDX document. */
export function makeSbom({ version, target }: Step): StepReport {
  const name = `recordbus-${version}.spdx.json`;
  const file = join(target, name);
  // npm writes milliseconds, which SPDX does not have.
  writeFileSync(file, list(version).replace(/("created": "[^"]+)\.\d+Z"/, '$1Z"'));
  const { spdxVersion, packages }: SpdxDocument = JSON.parse(readFileSync(file, 'utf8'));
  const unversioned = packages.filter(({ versionInfo }) => !versionInfo);
  if (unversioned.length > 0) throw new Error(`${name} has no version for ${unversioned[0]?.name}.`);
  const checked = [`${name}: ${spdxVersion}, ${packages.length} packages`];
  const validator = findProgram('pyspdxtools', ['--help']);
  if (validator === undefined)
    return {
      checked,
      leftOut: "the SBOM's validation: pip install spdx-tools brings pyspdxtools, SPDX's own validator.",
    };
  run(validator, ['--infile', file], root);
  return { checked: [...checked, "SPDX's validator accepts it"] };
}

/** npm describes only packages with a version, and the workspaces have none of their own. */
function list(version: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'recordbus-sbom-'));
  try {
    for (const folder of ['', ...workspaces]) {
      mkdirSync(join(copy, folder), { recursive: true });
      const manifest: object = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      writeFileSync(join(copy, folder, 'package.json'), JSON.stringify({ ...manifest, version }));
    }
    const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    for (const [place, entry] of Object.entries(lock.packages))
      if (!place.includes('node_modules/') && !entry.link) entry.version = version;
    writeFileSync(join(copy, 'package-lock.json'), JSON.stringify(lock));
    const flags = ['--sbom-format', 'spdx', '--package-lock-only', '--omit', 'dev'];
    return run('npm', ['sbom', ...flags, ...workspaces.flatMap((folder) => ['--workspace', folder])], copy);
  } finally {
    rmSync(copy, { recursive: true });
  }
}
