import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root, run } from '../pack/npm-pack.ts';
import { answerOf } from './programs.ts';

interface Release {
  readonly version: string;
  readonly commit: string;
  readonly isClean: boolean;
  readonly files: readonly { readonly name: string; readonly sha256: string }[];
  readonly leftOut: readonly string[];
}

type Command = readonly [program: string, ...args: string[]];

/** Where images and charts go: GitHub's registry, below the repository's owner. */
const registry = 'ghcr.io/recordbus';

/**
 * Returns the commands that publish a release's files. What is needed comes before what needs it, and the GitHub release,
 * which tells running stacks of the version, comes last. A pre-release is nobody's default.
 */
export function publishCommands({ version, files }: Pick<Release, 'version' | 'files'>, directory: string): Command[] {
  const paths = files.map(({ name }) => join(directory, name));
  const isPrerelease = version.includes('-');
  const named = (pattern: RegExp): string[] => paths.filter((path) => pattern.test(basename(path)));
  const npm = [...named(/^recordbus-nats-server-.*\.tgz$/), ...named(/^recordbus-(client|extensions)-.*\.tgz$/)];
  const tags = [version, ...(isPrerelease ? [] : ['latest'])];
  return [
    ...[...npm, ...named(/^recordbus-\d.*\.tgz$/)].map(
      (path): Command => [
        'npm',
        'publish',
        path,
        '--provenance',
        '--access',
        'public',
        '--tag',
        isPrerelease ? 'next' : 'latest',
      ],
    ),
    ...named(/\.oci\.tar$/).flatMap((path) =>
      tags.map(
        (tag): Command => ['skopeo', 'copy', '--all', `oci-archive:${path}`, `docker://${registry}/recordbus:${tag}`],
      ),
    ),
    ...named(/^recordbus-chart-/).map((path): Command => ['helm', 'push', path, `oci://${registry}/charts`]),
    [
      'gh',
      'release',
      'create',
      `v${version}`,
      '--verify-tag',
      '--title',
      version,
      '--notes-file',
      join(directory, 'notes.md'),
      ...(isPrerelease ? ['--prerelease'] : []),
      ...paths.filter((path) => !/\.oci\.tar$|notes\.md$/.test(path)),
      join(directory, 'release.json'),
      join(directory, 'SHA256SUMS'),
    ],
  ];
}

/** Publishes what a dry run made. Throws unless it is whole, unchanged, and made from the commit with the version's tag. */
export function publishRelease(directory: string): void {
  const release: Release = JSON.parse(readFileSync(join(directory, 'release.json'), 'utf8'));
  const { version, commit, isClean, files, leftOut } = release;
  if (!isClean) throw new Error('The release was made from a tree with local changes.');
  if (leftOut.length > 0) throw new Error(`The release is not whole. Not made: ${leftOut.join(' ')}`);
  if (answerOf('git', ['rev-parse', `v${version}^{commit}`]) !== commit)
    throw new Error(`The tag v${version} is not on ${commit}, which the release was made from.`);
  for (const { name, sha256 } of files)
    if (
      createHash('sha256')
        .update(readFileSync(join(directory, name)))
        .digest('hex') !== sha256
    )
      throw new Error(`${name} is not what the dry run made.`);
  for (const [program, ...args] of publishCommands(release, directory)) {
    process.stdout.write(`${[program, ...args].join(' ')}\n`);
    run(program, args, root);
  }
}
