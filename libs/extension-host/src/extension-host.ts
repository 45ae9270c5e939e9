import { watch } from 'node:fs';
import { notFound } from '@recordbus/shared/errors';
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
  const listeners = new Set<() => void>();
  const ending = new AbortController();
  let loaded = new Map<string, { readonly extension: LoadedExtension; readonly pool: WorkerPool }>();
  let extensions: readonly LoadedExtension[] = [];
  let problems: readonly ExtensionProblem[] = [];
  let timer: NodeJS.Timeout | undefined;
  let loading = Promise.resolve();

  async function load(): Promise<void> {
    const before = loaded;
    const attempts = (await findExtensions(directory)).map(async (file) => {
      const pool = createWorkerPool({ ...file, maxWorkers, memoryMb, runner, log });
      try {
        return { pool, extension: { ...file, description: await pool.load() } };
      } catch (error) {
        pool.stop();
        const problem = error instanceof Error ? error.message : String(error);
        log.error({ extension: file.name, file: file.file, problem }, 'an extension can not be loaded');
        return { pool: undefined, problem: { ...file, problem } };
      }
    });
    const results = await Promise.all(attempts);
    const loadedNow = results.flatMap((result) => (result.pool ? [[result.extension.name, result] as const] : []));
    problems = results.flatMap((result) => (result.pool ? [] : [result.problem]));
    // What worked until somebody edited it goes on working as it was.
    const kept = problems.flatMap(({ name }) => {
      const old = before.get(name);
      return old ? [[name, old] as const] : [];
    });
    loaded = new Map([...loadedNow, ...kept]);
    extensions = [...loaded.values()].map(({ extension }) => extension);
    for (const { pool } of before.values()) if (![...loaded.values()].some((one) => one.pool === pool)) pool.retire();
    log.info({ extensions: [...loaded.keys()], directory }, 'the extensions are loaded');
  }

  async function reload(): Promise<void> {
    if (ending.signal.aborted) return;
    await load();
    for (const listener of listeners) listener();
  }

  function follow(): void {
    const watcher = watch(directory, { recursive: true, signal: ending.signal }, () => {
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
      const found = loaded.get(name);
      if (!found) throw notFound('extension');
      return found.pool.call(call);
    },
    onChange: (listener) => listeners.add(listener),
    async stop() {
      ending.abort();
      clearTimeout(timer);
      await loading;
      for (const { pool } of loaded.values()) pool.stop();
      await runner.stop();
    },
  };
}
