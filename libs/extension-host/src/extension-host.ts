import { watch } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { notFound } from '@recordbus/errors';
import { createGate } from '@recordbus/limits/gate';
import { whenWoken } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { ExtensionsConfig } from './config.ts';
import { type ExtensionProblem, type LoadedDirectory, type LoadedExtension, loadDirectory } from './load-directory.ts';
import { createRunnerProcess } from './runner-process.ts';
import { createSeparateRunners } from './separate-runners.ts';
import type { PoolCall } from './worker-pool.ts';

/** One directory's extensions, running. */
export interface ExtensionHost {
  /** The same array until extensions are reloaded. */
  readonly extensions: readonly LoadedExtension[];
  readonly problems: readonly ExtensionProblem[];
  /** Loads all extensions; logs those that cannot be loaded, and continues without them. */
  start(): Promise<void>;
  /** Calls an extension's function. Throws the errors of WorkerPool.call, and 404 for an extension that was removed. */
  call(extension: string, call: PoolCall): Promise<unknown>;
  /** Runs a job in one of the extension's workers for jobs. Throws the same errors as `call`. */
  callJob(extension: string, call: PoolCall): Promise<unknown>;
  /** Registers a listener for reloads. */
  onChange(listener: () => void): void;
  stop(): Promise<void>;
}

interface HostOptions extends Omit<ExtensionsConfig, 'isAwaited'> {
  readonly log: Logger;
}

/** How many workers start at once; one that loops while it loads occupies a slot for 5 s. */
const startsAtOnce = Math.max(2, availableParallelism());
/** Editors write a file in several steps, so a reload waits this long after the last one. */
const settleMs = 150;

/** Creates a directory's host; nothing runs before `start`. */
export function createExtensionHost({ directory, log, followsChanges, ...limits }: HostOptions): ExtensionHost {
  const runner = createRunnerProcess();
  const jobRunner = createSeparateRunners();
  const starts = createGate({ width: startsAtOnce, maxWaiting: Number.POSITIVE_INFINITY, refusal: '' });
  const loadDeps = { directory, ...limits, runner, jobRunner, starts, log };
  const listeners = new Set<() => void>();
  const ending = new AbortController();
  /** The paths written since the last load. */
  const written = new Set<string>();
  let loaded: LoadedDirectory = { running: new Map(), extensions: [], problems: [] };
  let firstLoad: Promise<void> | undefined;
  const reloading = whenWoken({
    name: 'reload the extensions',
    log,
    level: 'error',
    soonMs: settleMs,
    isDebounced: true,
    async run() {
      await firstLoad;
      if (ending.signal.aborted) return;
      await load();
      for (const listener of listeners) listener();
    },
  });

  async function load(): Promise<void> {
    const { running: before } = loaded;
    loaded = await loadDirectory(loadDeps, loaded, written);
    const current = new Set(loaded.running.values());
    for (const old of before.values()) {
      if (current.has(old)) continue;
      old.pool.retire();
      old.jobPool?.retire();
    }
    log.info({ extensions: [...loaded.running.keys()], directory }, 'extensions loaded');
  }

  function noteWritten(path: string): void {
    written.add(path);
    reloading.wakeSoon();
  }

  return {
    get extensions() {
      return loaded.extensions;
    },
    get problems() {
      return loaded.problems;
    },
    async start() {
      // The watch starts first, so a file that is written during the load is loaded again.
      if (followsChanges) watchFiles(directory, ending.signal, log, noteWritten);
      firstLoad = load();
      await firstLoad;
    },
    async call(name, call) {
      const found = loaded.running.get(name);
      if (!found) throw notFound('extension');
      return found.pool.call(call);
    },
    async callJob(name, call) {
      const pool = loaded.running.get(name)?.jobPool;
      if (!pool) throw notFound('job');
      return pool.call(call);
    },
    onChange: (listener) => listeners.add(listener),
    async stop() {
      ending.abort();
      await reloading.stop();
      for (const { pool, jobPool } of loaded.running.values()) {
        pool.stop();
        jobPool?.stop();
      }
      await Promise.all([runner.stop(), jobRunner.stop()]);
    },
  };
}

/** Calls `onWritten` with each path that is written below a directory; with the directory when the path is unknown. */
function watchFiles(directory: string, ending: AbortSignal, log: Logger, onWritten: (path: string) => void): void {
  const watcher = watch(directory, { recursive: true, signal: ending }, (_event, path) => {
    onWritten(path === null ? directory : join(directory, path));
  });
  watcher.on('error', (error) => {
    if (!ending.aborted) log.warn({ err: error }, 'cannot watch the extensions for changes');
  });
}
