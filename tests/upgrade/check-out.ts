import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linkDependencies, withoutGitVariables } from '../harness/processes/fresh-clone.ts';
import { repository } from '../harness/stacks/stack.ts';

/** A version's code, ready to run. */
export interface Version {
  readonly name: string;
  readonly directory: string;
}

/** This tree. */
export const thisVersion: Version = { name: 'this version', directory: repository };

/** The last release. */
export const released: { readonly version: string; readonly commit: string } = JSON.parse(
  readFileSync(join(repository, 'infra/upgrade/released.json'), 'utf8'),
);

/** The commit to upgrade from: `--from`, or the last release's. */
export const previousCommit = (): string => process.env.TEST_UPGRADE_FROM ?? released.commit;

/** Why a commit cannot be checked out; undefined if it can. */
export function missingCommit(commit: string): string | undefined {
  const { status } = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: repository, env });
  return status === 0 ? undefined : `this clone's history lacks the commit ${commit}: git fetch --unshallow`;
}

/** Outside node_modules, where Node runs no TypeScript. Its links lead into this clone. */
const cache = join(tmpdir(), `recordbus-versions-${createHash('sha256').update(repository).digest('hex').slice(0, 8)}`);

/**
 * Checks out a commit into the cache, with its dependencies: links to this tree's if both have the same package-lock.json,
 * otherwise its own, which npm installs.
 */
export function checkOut(commit: string): Version {
  const hash = git('rev-parse', `${commit}^{commit}`).toString().trim();
  const directory = join(cache, hash);
  if (!existsSync(directory)) {
    const draft = `${directory}.part`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true });
    execFileSync('tar', ['-x', '-C', draft], { input: git('archive', hash) });
    install(draft);
    renameSync(draft, directory);
  }
  return { name: hash.slice(0, 8), directory };
}

function install(directory: string): void {
  const lock = (folder: string) => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (lock(directory) === lock(repository)) {
    linkDependencies(directory);
    return;
  }
  const { status, stderr } = spawnSync(process.execPath, ['infra/launch/launch.cjs', 'node', '--version'], {
    cwd: directory,
    encoding: 'utf8',
  });
  assert.equal(status, 0, `installing the previous version's dependencies: ${stderr}`);
}

const env = withoutGitVariables(process.env);

const git = (...args: readonly string[]): Buffer =>
  execFileSync('git', args, { cwd: repository, env, maxBuffer: 1024 ** 3 });
