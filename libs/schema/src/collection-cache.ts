import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import { followedCopy } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Collection } from './collection.ts';
import { loadCollections } from './collection-store.ts';

/** How often a replica reads the collections without a notice, in milliseconds (collections §9.2). */
const pollIntervalMs = 5000;

/** The current collections, in memory. The objects never change: a new schema is a new set of objects. */
export interface CollectionCache {
  find(name: string): Collection | undefined;
  /** Returns a collection's name for its name or alias, and any other text as it is (collections §1.7). */
  nameOf(nameOrAlias: string): string;
  all(): readonly Collection[];
  /** The schema version of the collections that `find` and `all` return. */
  readonly version: number;
  /** Reads the collections again now, for a caller who has seen that they are out of date. */
  reload(): Promise<void>;
  /** Calls the listener when other collections have been read. Returns a function that removes it. */
  onChange(listener: () => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface CollectionsCopy {
  readonly version: number;
  readonly byName: ReadonlyMap<string, Collection>;
  readonly names: ReadonlyMap<string, string>;
}

interface CacheDeps {
  readonly database: Pick<Database, 'read' | 'readReplicas'>;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
}

/** Creates the cache: a followed copy that the notice `schema` refreshes, and a poll every 5 s. */
export function createCollectionCache({ database, bus, log }: CacheDeps): CollectionCache {
  const copy = followedCopy<CollectionsCopy>({
    name: 'the collections',
    log,
    pollMs: pollIntervalMs,
    onNotice: (listener) => bus.onNotice('schema', listener),
    async read(before) {
      const { version, collections } = await loadCollections(database.read);
      if (before?.version === version) return before;
      // Read replicas that lack the change must not get statements for the new tables, or answer by the old rules.
      database.readReplicas?.catchUp();
      return {
        version,
        byName: new Map(collections.map((collection) => [collection.name, collection])),
        names: new Map(collections.flatMap(({ alias, name }) => (alias === undefined ? [] : [[alias, name]]))),
      };
    },
  });

  return {
    find: (name) => copy.current.byName.get(name),
    nameOf: (text) => (copy.current.byName.has(text) ? text : (copy.current.names.get(text) ?? text)),
    all: () => [...copy.current.byName.values()],
    get version() {
      return copy.current.version;
    },
    reload: copy.refresh,
    onChange: copy.onChange,
    start: copy.start,
    stop: copy.stop,
  };
}
