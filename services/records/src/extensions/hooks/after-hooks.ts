import type { SharedConsumer } from '@recordbus/bus';
import type { ExtensionHost, LoadedExtension } from '@recordbus/extension-host';
import { createGate } from '@recordbus/limits/gate';
import { afterHooksOf } from './after-hook.ts';
import { createHookConsumer, type HookConsumerDeps } from './hook-consumer.ts';

/** Runs after hooks with the stream's events, on any number of replicas. */
export interface AfterHooks {
  /** Follows the currently loaded extensions' hooks. Call it at the start and after extensions change. */
  renew(): Promise<void>;
  /** Waits for running calls. Events that are not taken yet go to other replicas. */
  stop(): Promise<void>;
}

interface AfterHooksDeps extends HookConsumerDeps {
  readonly host: Pick<ExtensionHost, 'extensions' | 'call'>;
}

/** How many events one extension handles at once. Its other workers are for requests. */
const width = 2;

/** Creates the loaded extensions' after hooks. Nothing is read before `renew`. */
export function createAfterHooks(deps: AfterHooksDeps): AfterHooks {
  const running = new Map<LoadedExtension, readonly SharedConsumer[]>();
  let changing = Promise.resolve();
  let isStopped = false;

  function start(extension: LoadedExtension, loadedAt: Date): void {
    const turns = createGate({ width, maxWaiting: Number.POSITIVE_INFINITY, refusal: '' });
    const hooked = { name: extension.name, loadedAt, turns };
    const readers = afterHooksOf(extension, deps.stream.prefix).map((hook) => createHookConsumer(deps, hooked, hook));
    for (const reader of readers) reader.start();
    running.set(extension, readers);
  }

  async function keepOnly(loaded: readonly LoadedExtension[]): Promise<void> {
    const gone = [...running].filter(([extension]) => !loaded.includes(extension));
    for (const [extension] of gone) running.delete(extension);
    await Promise.all(gone.flatMap(([, readers]) => readers.map((reader) => reader.stop())));
  }

  async function change(loadedAt: Date): Promise<void> {
    if (isStopped) return;
    const loaded = deps.host.extensions;
    await keepOnly(loaded);
    for (const extension of loaded) if (!running.has(extension)) start(extension, loadedAt);
  }

  return {
    renew() {
      // Taken before the older readers have ended, and before the bus is there to create consumers.
      const loadedAt = new Date();
      changing = changing.then(() => change(loadedAt));
      return changing;
    },
    async stop() {
      isStopped = true;
      await changing;
      await keepOnly([]);
    },
  };
}
