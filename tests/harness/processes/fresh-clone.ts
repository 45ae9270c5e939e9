import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, type Dirent, existsSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../stacks/stack.ts';

/** Commits this repository's current files to a new repository in `directory`, for `git clone`. */
export function commitFiles(directory: string): void {
  const author = { name: 'Recordbus', email: 'recordbus@example.com' };
  const git = (...args: string[]): void => {
    const { status, stderr, error } = spawnSync('git', args, {
      env: {
        ...withoutGitVariables(process.env),
        GIT_DIR: join(directory, '.git'),
        GIT_WORK_TREE: repository,
        GIT_AUTHOR_NAME: author.name,
        GIT_AUTHOR_EMAIL: author.email,
        GIT_COMMITTER_NAME: author.name,
        GIT_COMMITTER_EMAIL: author.email,
      },
      encoding: 'utf8',
    });
    assert.equal(status, 0, `git ${args.join(' ')}: ${stderr} ${error ?? ''}`);
  };
  mkdirSync(directory);
  git('-c', 'init.defaultBranch=main', 'init', '--quiet');
  git('add', '--all');
  git('-c', 'commit.gpgSign=false', 'commit', '--quiet', '--no-verify', '--message', 'The files under test');
}

/** Copies this repository's current files, without those that git ignores. */
export function copyFiles(directory: string): void {
  const env = withoutGitVariables(process.env);
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  });
  assert.equal(listed.status, 0, listed.stderr);
  for (const file of listed.stdout.split('\0').filter((name) => name !== '' && existsSync(join(repository, name))))
    cpSync(join(repository, file), join(directory, file), { recursive: true });
}

/** Removes a Git hook's variables, which name the hook's repository. */
export const withoutGitVariables = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('GIT_')));

/**
 * Gives a clone the dependencies that npm would install, without a network: the registry's packages are links to this
 * repository's; the workspaces are the clone's.
 */
export function linkDependencies(clone: string): void {
  link(join(repository, 'node_modules'), join(clone, 'node_modules'));
}

function link(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (isOfThisInstall(entry)) continue;
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (entry.name.startsWith('@')) link(source, target);
    else symlinkSync(source, target);
  }
}

/** The files that each clone writes itself: the cache for compiled code, and the note about a complete install. */
const isOfThisInstall = ({ name }: Dirent): boolean => name === '.cache' || name === '.installed';
