import type { EventReader } from '@recordbus/bus';
import type { ExtensionHost, LoadedExtension } from '@recordbus/extension-host';
import { createGate } from '@recordbus/shared/gate';
import { afterHooksOf } from './after-hook.ts';
import { createHookConsumer, type HookConsumerDeps } from './hook-consumer.ts';

/** Calls after hooks with the events of the stream, on any number of replicas. */
export interface AfterHooks {
  /** Calls those of the extensions that are loaded now; to be called at the start, and when others are. */
  renew(): Promise<void>;
  /** Lets the calls under way end; what they did not take goes to the other replicas. */
  stop(): Promise<void>;
}

interface AfterHooksDeps extends HookConsumerDeps {
  readonly host: Pick<ExtensionHost, 'extensions' | 'call'>;
}

/** How many events are handed to one extension at once; the other workers are for requests. */
const width = 2;

/** Makes the after hooks of the extensions that are loaded; nothing is read before `renew`. */
export function createAfterHooks(deps: AfterHooksDeps): AfterHooks {
  const running = new Map<LoadedExtension, readonly EventReader[]>();
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
      // Before the older ones have ended, and also while there is no bus to make consumers at.
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
