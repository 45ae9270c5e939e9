import { watch } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { notFound } from '@recordbus/shared/errors';
import { createGate } from '@recordbus/shared/gate';
import type { Logger } from '@recordbus/shared/logging';
import type { ExtensionsConfig } from './config.ts';
import type { Description } from './description.ts';
import { type ExtensionFile, findExtensions } from './find-extensions.ts';
import { createRunnerProcess } from './runner-process.ts';
import { createWorkerPool, type PoolCall, type WorkerPool } from './worker-pool.ts';

/** An extension that is loaded. */
export interface LoadedExtension extends ExtensionFile {
  readonly description: Description;
}

/** A file that could not be loaded, and the sentence that says why. */
export interface ExtensionProblem extends ExtensionFile {
  readonly problem: string;
}

/** The extensions of one directory, running. */
export interface ExtensionHost {
  /** The same list until other extensions are loaded. */
  readonly extensions: readonly LoadedExtension[];
  readonly problems: readonly ExtensionProblem[];
  /** Loads all of them; those that can't be loaded are logged, and the others go on without them. */
  start(): Promise<void>;
  /** Throws what WorkerPool.call throws, and 404 for an extension that is not there any more. */
  call(extension: string, call: PoolCall): Promise<unknown>;
  /** Calls back when other extensions are loaded than before. */
  onChange(listener: () => void): void;
  stop(): Promise<void>;
}

interface HostOptions extends ExtensionsConfig {
  readonly log: Logger;
}

interface RunningExtension {
  readonly extension: LoadedExtension;
  /** Paths of what it was made of. */
  readonly files: ReadonlySet<string>;
  readonly pool: WorkerPool;
}

/** Workers that start at once; one that loops while it loads has one of these places for 5 s. */
const startsAtOnce = Math.max(2, availableParallelism());
/** Editors write a file in several steps. */
const settleMs = 150;

/** Makes the host of a directory; nothing runs before `start`. */
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
  /** Paths that were written since the last load. */
  const written = new Set<string>();
  let running = new Map<string, RunningExtension>();
  let extensions: readonly LoadedExtension[] = [];
  let problems: readonly ExtensionProblem[] = [];
  let timer: NodeJS.Timeout | undefined;
  let loading = Promise.resolve();

  async function start(file: ExtensionFile): Promise<RunningExtension | ExtensionProblem> {
    const pool = createWorkerPool({ ...file, maxWorkers, memoryMb, runner, starts, log });
    try {
      const { description, files } = await pool.load();
      return { extension: { ...file, description }, files: new Set([file.file, ...files]), pool };
    } catch (error) {
      pool.stop();
      return giveUp(file, error instanceof Error ? error.message : String(error));
    }
  }

  function giveUp(file: ExtensionFile, problem: string): ExtensionProblem {
    log.error({ extension: file.name, file: file.file, problem }, 'an extension can not be loaded');
    return { ...file, problem };
  }

  /** Says whether an extension goes on that is running: nothing was written that it may have been made of. */
  async function findUnchanged(): Promise<(file: ExtensionFile) => RunningExtension | undefined> {
    const named = [...written];
    written.clear();
    const paths = await Promise.all(named.map((path) => realpath(path).catch(() => path)));
    const failed = new Set(problems.map(({ name }) => name));
    // What code imports is known; what it reads beside that is not.
    const isUnclear = paths.some((path) => !/\.[cm]?[jt]s$/.test(path));
    const isTouched = ({ files }: RunningExtension) => isUnclear || paths.some((path) => files.has(path));
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
          ? giveUp(file, `there is another file of this name: ${found[index - 1]?.file}`)
          : (unchanged(file) ?? start(file)),
      ),
    );
    problems = results.filter((result) => 'problem' in result);
    // What worked until somebody edited it goes on working as it was.
    const kept = problems.flatMap(({ name }) => before.get(name) ?? []);
    const started = results.filter((result) => 'pool' in result);
    running = new Map([...kept, ...started].map((one) => [one.extension.name, one]));
    extensions = [...running.values()].map(({ extension }) => extension);
    const goOn = new Set(running.values());
    for (const old of before.values()) if (!goOn.has(old)) old.pool.retire();
    log.info({ extensions: [...running.keys()], directory }, 'the extensions are loaded');
  }

  async function reload(): Promise<void> {
    if (ending.signal.aborted) return;
    await load();
    for (const listener of listeners) listener();
  }

  function follow(): void {
    const watcher = watch(directory, { recursive: true, signal: ending.signal }, (_event, path) => {
      written.add(path === null ? directory : join(directory, path));
      clearTimeout(timer);
      timer = setTimeout(() => {
        loading = loading.then(reload).catch((error) => log.error({ err: error }, 'the extensions were not reloaded'));
      }, settleMs);
    });
    watcher.on('error', (error) => {
      if (!ending.signal.aborted) log.warn({ err: error }, 'changes of the extensions are not followed any more');
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
      clearTimeout(timer);
      await loading;
      for (const { pool } of running.values()) pool.stop();
      await runner.stop();
    },
  };
}
