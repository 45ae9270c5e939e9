import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../pack/npm-pack.ts';
import { cutSection } from './changelog.ts';
import { makeRelease } from './make-release.ts';
import { publishRelease } from './publish-release.ts';
import { readVersion, writeVersion } from './version.ts';

const usage = `npm run release -- --dry-run         makes and checks in dist what a release has; publishes nothing
npm run release -- cut <version>     writes the version, and gives the changelog's "Unreleased" its number and date
npm run release -- publish           publishes what --dry-run made; .github/workflows/release.yml runs it
npm run release -- fixture           notes the tagged release, and writes the data directory that upgrade tests start on
`;

const [command, argument] = process.argv.slice(2);
try {
  if (command === '--dry-run') await makeRelease(join(root, 'dist'));
  else if (command === 'publish') publishRelease(join(root, 'dist'));
  else if (command === 'fixture') writeFixture();
  else if (command === 'cut' && argument !== undefined) cut(argument);
  else {
    process.stderr.write(usage);
    process.exitCode = 2;
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

/** Changes the files that a release's commit changes; the caller reviews and commits them. */
function cut(version: string): void {
  const file = join(root, 'CHANGELOG.md');
  const changelog = cutSection(readFileSync(file, 'utf8'), version, new Date().toISOString().slice(0, 10));
  writeVersion(root, version);
  writeFileSync(file, changelog);
  process.stdout.write(
    `Cut ${readVersion(root)}. Commit it as "Release ${version}", and tag the commit v${version}.\n`,
  );
}

/** Changes the files from which upgrade tests start, after the release; the caller commits them. */
function writeFixture(): void {
  const version = readVersion(root);
  const tag = `v${version}^{commit}`;
  const commit = execFileSync('git', ['rev-parse', '--verify', tag], { cwd: root, encoding: 'utf8' }).trim();
  writeFileSync(join(root, 'infra/upgrade/released.json'), `${JSON.stringify({ version, commit }, undefined, 2)}\n`);
  execFileSync(process.execPath, [join(root, 'tests/upgrade/write-fixture.ts')], { cwd: root, stdio: 'inherit' });
}
