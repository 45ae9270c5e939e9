import { watch } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { whenWoken } from '@recordbus/shared/background';
import { notFound } from '@recordbus/shared/errors';
import { createGate } from '@recordbus/shared/gate';
import type { Logger } from '@recordbus/shared/logging';
import type { ExtensionsConfig } from './config.ts';
import type { ExtensionDescription } from './description.ts';
import { type ExtensionFile, findExtensions } from './find-extensions.ts';
import { createRunnerProcess } from './runner-process.ts';
import { createWorkerPool, type PoolCall, type WorkerPool } from './worker-pool.ts';

/** A loaded extension. */
export interface LoadedExtension extends ExtensionFile {
  readonly description: ExtensionDescription;
}

/** A file that could not be loaded, with the reason. */
export interface ExtensionProblem extends ExtensionFile {
  readonly problem: string;
}

/** The extensions of one directory, running. */
export interface ExtensionHost {
  /** The same array until extensions are reloaded. */
  readonly extensions: readonly LoadedExtension[];
  readonly problems: readonly ExtensionProblem[];
  /** Loads all extensions; logs those that cannot be loaded, and continues without them. */
  start(): Promise<void>;
  /**
   * Calls a function of an extension. Throws the errors of WorkerPool.call, and 404 for an extension that was removed.
   */
  call(extension: string, call: PoolCall): Promise<unknown>;
  /** Registers a listener for reloads. */
  onChange(listener: () => void): void;
  stop(): Promise<void>;
}

interface HostOptions extends ExtensionsConfig {
  readonly log: Logger;
}

interface RunningExtension {
  readonly extension: LoadedExtension;
  /** The paths of its source files. */
  readonly files: ReadonlySet<string>;
  readonly pool: WorkerPool;
}

/** The number of workers that start at once; one that loops while it loads occupies a slot for 5 s. */
const startsAtOnce = Math.max(2, availableParallelism());
/** Editors write a file in several steps, so a reload waits this long after the last one. */
const settleMs = 150;

/** Creates the host of a directory; nothing runs before `start`. */
export function createExtensionHost({
  directory,
  maxWorkers,
  memoryMb,
  log,
  followsChanges,
}: HostOptions): ExtensionHost {
  const runner = createRunnerProcess();
  const starts = createGate({ width: startsAtOnce, maxWaiting: Number.POSITIVE_INFINITY, refusal: '' });
  const listeners = new Set<() => void>();
  const ending = new AbortController();
  /** The paths written since the last load. */
  const written = new Set<string>();
  let running = new Map<string, RunningExtension>();
  let extensions: readonly LoadedExtension[] = [];
  let problems: readonly ExtensionProblem[] = [];
  const reloading = whenWoken({
    name: 'reload the extensions',
    log,
    level: 'error',
    soonMs: settleMs,
    settles: true,
    run: reload,
  });

  async function start(file: ExtensionFile): Promise<RunningExtension | ExtensionProblem> {
    const pool = createWorkerPool({ ...file, maxWorkers, memoryMb, runner, starts, log });
    try {
      const { description, files } = await pool.load();
      return { extension: { ...file, description }, files: new Set([file.file, ...files]), pool };
    } catch (error) {
      pool.stop();
      return reportProblem(file, error instanceof Error ? error.message : String(error));
    }
  }

  function reportProblem(file: ExtensionFile, problem: string): ExtensionProblem {
    log.error({ extension: file.name, file: file.file, problem }, 'cannot load an extension');
    return { ...file, problem };
  }

  /** Returns a function that finds the running extension of a file if none of its source files was written. */
  async function findUnchanged(): Promise<(file: ExtensionFile) => RunningExtension | undefined> {
    const named = [...written];
    written.clear();
    const paths = await Promise.all(named.map((path) => realpath(path).catch(() => path)));
    const failed = new Set(problems.map(({ name }) => name));
    // The imports of an extension are known, other files that it reads are not.
    const isAnyDependency = paths.some((path) => !/\.[cm]?[jt]s$/.test(path));
    const isTouched = ({ files }: RunningExtension) => isAnyDependency || paths.some((path) => files.has(path));
    return ({ name, file }) => {
      const old = running.get(name);
      return old && old.extension.file === file && !failed.has(name) && !isTouched(old) ? old : undefined;
    };
  }

  async function load(): Promise<void> {
    const before = running;
    const found = await findExtensions(directory);
    const unchanged = await findUnchanged();
    const results = await Promise.all(
      found.map((file, index) =>
        found[index - 1]?.name === file.name
          ? reportProblem(file, `there is another file of this name: ${found[index - 1]?.file}`)
          : (unchanged(file) ?? start(file)),
      ),
    );
    problems = results.filter((result) => 'problem' in result);
    // An extension that no longer loads keeps running in its last working version.
    const kept = problems.flatMap(({ name }) => before.get(name) ?? []);
    const started = results.filter((result) => 'pool' in result);
    running = new Map([...kept, ...started].map((one) => [one.extension.name, one]));
    extensions = [...running.values()].map(({ extension }) => extension);
    const current = new Set(running.values());
    for (const old of before.values()) if (!current.has(old)) old.pool.retire();
    log.info({ extensions: [...running.keys()], directory }, 'extensions loaded');
  }

  async function reload(): Promise<void> {
    if (ending.signal.aborted) return;
    await load();
    for (const listener of listeners) listener();
  }

  function follow(): void {
    const watcher = watch(directory, { recursive: true, signal: ending.signal }, (_event, path) => {
      written.add(path === null ? directory : join(directory, path));
      reloading.wakeSoon();
    });
    watcher.on('error', (error) => {
      if (!ending.signal.aborted) log.warn({ err: error }, 'cannot watch the extensions for changes');
    });
  }

  return {
    get extensions() {
      return extensions;
    },
    get problems() {
      return problems;
    },
    async start() {
      await load();
      if (followsChanges) follow();
    },
    async call(name, call) {
      const found = running.get(name);
      if (!found) throw notFound('extension');
      return found.pool.call(call);
    },
    onChange: (listener) => listeners.add(listener),
    async stop() {
      ending.abort();
      await reloading.stop();
      for (const { pool } of running.values()) pool.stop();
      await runner.stop();
    },
  };
}
