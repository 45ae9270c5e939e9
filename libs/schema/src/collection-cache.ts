import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';
import { createRefresh } from '@recordbus/shared/refresh';
import type { Collection } from './collection.ts';
import { loadCollections } from './collection-store.ts';

/** How soon a replica that heard nothing from the bus looks for itself, in milliseconds (design §2). */
const pollIntervalMs = 5000;

/** Every collection as it is now, in memory. What it hands out never changes; a new schema is a new set of objects. */
export interface CollectionCache {
  find(name: string): Collection | undefined;
  all(): readonly Collection[];
  /** The schema version of what `find` and `all` give. */
  readonly version: number;
  /** Reads the collections again now, for a caller who has seen that they are out of date. */
  reload(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface CacheDeps {
  readonly database: Database;
  readonly bus: Bus;
  readonly log: Logger;
}

/** Makes the cache: loaded at start, replaced when the bus tells of a change, looked after every 5 s in case it did not. */
export function createCollectionCache({ database, bus, log }: CacheDeps): CollectionCache {
  let collections = new Map<string, Collection>();
  let version = 0;
  let timer: NodeJS.Timeout | undefined;
  let endNotices = () => {};
  const refresh = createRefresh(load);

  async function load(): Promise<void> {
    const loaded = await loadCollections(database.read);
    if (loaded.version === version) return;
    version = loaded.version;
    collections = new Map(loaded.collections.map((collection) => [collection.name, collection]));
  }

  const follow = () =>
    refresh.run().catch((error) => log.warn({ err: error }, 'the collections could not be read again'));

  return {
    find: (name) => collections.get(name),
    all: () => [...collections.values()],
    get version() {
      return version;
    },
    reload: refresh.run,
    async start() {
      endNotices = bus.onNotice('schema', follow);
      await refresh.run();
      timer = setInterval(follow, pollIntervalMs);
    },
    async stop() {
      endNotices();
      clearInterval(timer);
      await refresh.idle();
    },
  };
}
