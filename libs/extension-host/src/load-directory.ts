import { realpath } from 'node:fs/promises';
import { messageOf } from '@recordbus/errors';
import type { ExtensionDescription } from './description.ts';
import { type ExtensionFile, findExtensions } from './find-extensions.ts';
import type { RunnerProcess } from './runner-process.ts';
import { createWorkerPool, type PoolOptions, type WorkerPool } from './worker-pool.ts';

/** A loaded extension. */
export interface LoadedExtension extends ExtensionFile {
  readonly description: ExtensionDescription;
}

/** A file that could not be loaded, with the reason. */
export interface ExtensionProblem extends ExtensionFile {
  readonly problem: string;
}

interface RunningExtension {
  readonly extension: LoadedExtension;
  /** Its source files' paths. */
  readonly files: ReadonlySet<string>;
  readonly pool: WorkerPool;
  /** Runs its jobs, so that a busy one takes no worker from hooks and routes. Undefined without jobs. */
  readonly jobPool: WorkerPool | undefined;
}

/** A directory's loaded extensions. */
export interface LoadedDirectory {
  /** By name. */
  readonly running: ReadonlyMap<string, RunningExtension>;
  readonly extensions: readonly LoadedExtension[];
  readonly problems: readonly ExtensionProblem[];
}

interface LoadDeps extends Omit<PoolOptions, keyof ExtensionFile | 'keepsOne'> {
  readonly directory: string;
  readonly maxJobWorkers: number;
  readonly jobRunner: RunnerProcess;
}

/**
 * Loads a directory's extensions, except those that are loaded and unchanged. An extension that no longer loads keeps
 * running in its last working version. `written` has the paths written since the last load; it is emptied.
 */
export async function loadDirectory(
  deps: LoadDeps,
  before: LoadedDirectory,
  written: Set<string>,
): Promise<LoadedDirectory> {
  const found = await findExtensions(deps.directory);
  const paths = [...written];
  written.clear();
  const findUnchanged = await createFindUnchanged(before, paths);
  const results = await Promise.all(
    found.map((file, index) =>
      found[index - 1]?.name === file.name
        ? reportProblem(deps, file, `there is another file with this name: ${found[index - 1]?.file}`)
        : (findUnchanged(file) ?? load(deps, file)),
    ),
  );
  const problems = results.filter((result) => 'problem' in result);
  const kept = problems.flatMap(({ name }) => before.running.get(name) ?? []);
  const started = results.filter((result) => 'pool' in result);
  const running = new Map([...kept, ...started].map((one) => [one.extension.name, one]));
  return { running, extensions: [...running.values()].map(({ extension }) => extension), problems };
}

/** Creates the function that finds a file's running extension if none of its source files was written. */
async function createFindUnchanged(
  { running, problems }: LoadedDirectory,
  written: readonly string[],
): Promise<(file: ExtensionFile) => RunningExtension | undefined> {
  const paths = await Promise.all(written.map((path) => realpath(path).catch(() => path)));
  const failed = new Set(problems.map(({ name }) => name));
  // An extension's imports are known. Other files that it reads are not.
  const isAnyDependency = paths.some((path) => !/\.[cm]?[jt]s$/.test(path));
  const isTouched = ({ files }: RunningExtension) => isAnyDependency || paths.some((path) => files.has(path));
  return ({ name, file }) => {
    const old = running.get(name);
    return old && old.extension.file === file && !failed.has(name) && !isTouched(old) ? old : undefined;
  };
}

async function load(
  { directory: _, maxJobWorkers, jobRunner, ...deps }: LoadDeps,
  file: ExtensionFile,
): Promise<RunningExtension | ExtensionProblem> {
  const pool = createWorkerPool({ ...file, ...deps, keepsOne: true });
  try {
    const { description, files } = await pool.load();
    const jobOptions = { ...file, ...deps, maxWorkers: maxJobWorkers, runner: jobRunner, keepsOne: false };
    const jobPool = description.jobs.length > 0 ? createWorkerPool(jobOptions) : undefined;
    return { extension: { ...file, description }, files: new Set([file.file, ...files]), pool, jobPool };
  } catch (error) {
    pool.stop();
    return reportProblem(deps, file, messageOf(error));
  }
}

function reportProblem({ log }: Pick<LoadDeps, 'log'>, file: ExtensionFile, problem: string): ExtensionProblem {
  log.error({ extension: file.name, file: file.file, problem }, 'cannot load an extension');
  return { ...file, problem };
}
