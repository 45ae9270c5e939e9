import type { EventReader } from '@recordbus/bus';
import type { ExtensionHost } from '@recordbus/extension-host';
import { createHookConsumer, type HookConsumerDeps } from './hook-consumer.ts';

/** Calls after hooks with the events of the stream, on any number of replicas. */
export interface EventHooks {
  start(): void;
  /** To be called when other extensions are loaded than before. */
  renew(): Promise<void>;
  /** Lets the calls under way end; what they did not take goes to the other replicas. */
  stop(): Promise<void>;
}

interface EventHooksDeps extends HookConsumerDeps {
  readonly host: Pick<ExtensionHost, 'extensions' | 'call'>;
}

/** Makes the after hooks of the extensions that are loaded: a consumer for each, so that none stands in another's way. */
export function createEventHooks(deps: EventHooksDeps): EventHooks {
  let consumers: EventReader[] = [];
  let changing = Promise.resolve();

  function start(): void {
    const hooked = deps.host.extensions.filter(({ description }) =>
      [...description.hooks, ...description.signIn].some(
        ({ point }) =>
          point === 'afterCreate' || point === 'afterUpdate' || point === 'afterDelete' || point === 'after',
      ),
    );
    consumers = hooked.map((extension) => createHookConsumer(deps, extension));
    for (const consumer of consumers) consumer.start();
  }

  const stop = async (): Promise<void> => {
    await Promise.all(consumers.map((consumer) => consumer.stop()));
  };

  return {
    start,
    renew() {
      changing = changing.then(stop).then(start);
      return changing;
    },
    async stop() {
      await changing;
      await stop();
    },
  };
}
