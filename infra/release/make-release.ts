import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../pack/npm-pack.ts';
import { hasSection, sectionOf } from './changelog.ts';
import { answerOf } from './programs.ts';
import { makeChart } from './steps/chart.ts';
import { makeImage } from './steps/image.ts';
import { makePackages, makeServers } from './steps/packages.ts';
import { makeSbom } from './steps/sbom.ts';
import { minorOf, readVersion } from './version.ts';

/** What a step is given. */
export interface Step {
  readonly version: string;
  /** The folder for what it makes. */
  readonly target: string;
}

/** What a step tells: sentences about what it checked, and about what it could not make here. */
export interface StepReport {
  readonly checked: readonly string[];
  readonly leftOut?: string;
}

const steps: readonly (readonly [title: string, make: (step: Step) => StepReport | Promise<StepReport>])[] = [
  ['Changelog and upgrade page', makeNotes],
  ['npm packages', makePackages],
  ['nats-server packages', makeServers],
  ['SBOM', makeSbom],
  ['Chart', makeChart],
  ['Image', makeImage],
];

/**
 * Makes all that a release of this tree has in an emptied folder, checks it, and lists it in `release.json` and
 * `SHA256SUMS`. What this machine lacks a program for is left out and named. Publishes and tags nothing.
 */
export async function makeRelease(target: string): Promise<void> {
  const startedAtMs = performance.now();
  const version = readVersion(root);
  const commit = answerOf('git', ['rev-parse', 'HEAD'], root);
  const isClean = answerOf('git', ['status', '--porcelain'], root) === '';
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  process.stdout.write(`Recordbus ${version}, commit ${commit ?? 'unknown'}${isClean ? '' : ', with local changes'}\n`);
  const leftOut: string[] = [];
  for (const [title, make] of steps) {
    const stepStartedAtMs = performance.now();
    const { checked, leftOut: missing } = await make({ version, target });
    process.stdout.write(`\n${title} (${((performance.now() - stepStartedAtMs) / 1000).toFixed(1)} s)\n`);
    for (const sentence of checked) process.stdout.write(`  ✓ ${sentence}\n`);
    if (missing === undefined) continue;
    leftOut.push(missing);
    process.stdout.write(`  – ${missing}\n`);
  }
  const files = readdirSync(target)
    .sort()
    .map((name) => describe(target, name));
  writeJson(join(target, 'release.json'), { version, commit, isClean, files, leftOut });
  const sums = [...files, describe(target, 'release.json')].map(({ name, sha256 }) => `${sha256}  ${name}\n`);
  writeFileSync(join(target, 'SHA256SUMS'), sums.join(''));
  const tookSec = ((performance.now() - startedAtMs) / 1000).toFixed(0);
  process.stdout.write(`\n${files.length} files in ${target}, in ${tookSec} s. Nothing was published or tagged.\n`);
  for (const missing of leftOut) process.stdout.write(`Not made here: ${missing}\n`);
}

function makeNotes({ version, target }: Step): StepReport {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const isCut = hasSection(changelog, version);
  writeFileSync(join(target, 'notes.md'), `${sectionOf(changelog, isCut ? version : 'Unreleased')}\n`);
  const page = `docs/upgrade/${minorOf(version)}.md`;
  if (!existsSync(join(root, page))) throw new Error(`${page} is missing: it says how to upgrade to ${version}.`);
  cpSync(join(root, page), join(target, `upgrade-${minorOf(version)}.md`));
  return {
    checked: [`the changelog has ${isCut ? `a section ${version}` : 'unreleased changes'}`, `${page} exists`],
    ...(!isCut && { leftOut: `a changelog section for ${version}: the notes are what is unreleased.` }),
  };
}

function describe(directory: string, name: string) {
  const bytes = readFileSync(join(directory, name));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { name, bytes: statSync(join(directory, name)).size, sha256 };
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}
