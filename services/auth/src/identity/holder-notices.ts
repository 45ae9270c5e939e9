import { hasAccountChanges, takeAccountChange } from '@recordbus/accounts';
import type { Bus } from '@recordbus/bus';
import { every } from '@recordbus/process/background';
import type { Collection, CollectionCache } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';
import { notifyHolder } from './notify-holder.ts';

/** How often a replica reads the changes without a notice, in milliseconds. */
const idleMs = 2000;

interface NoticesDeps extends Pick<AuthParts, 'database' | 'settings' | 'nowSec' | 'log'> {
  readonly bus: Pick<Bus, 'onNotice' | 'notify'>;
  readonly cache: Pick<CollectionCache, 'all' | 'reload'>;
}

/**
 * Notifies accounts' holders about changes by mail, whether the records API, this service, an admin or another replica
 * made them. Every change is a row that commits with it, so no notice is lost or sent twice.
 */
export function createHolderNotices(deps: NoticesDeps) {
  const { database, bus, cache, log } = deps;
  let endNotices = () => {};
  const task = every({
    name: "notify changed accounts' holders",
    log,
    intervalMs: idleMs,
    async run(ending) {
      try {
        await round(ending);
      } catch (error) {
        // The collection may have another name by now.
        await cache.reload().catch(() => {});
        throw error;
      }
    },
  });

  async function findCollection(id: string): Promise<Collection | undefined> {
    const find = () => cache.all().find((collection) => collection.id === id);
    if (!find()) await cache.reload();
    return find();
  }

  /** Notifies about the oldest change; returns false when there is none. */
  const notifyNext = (): Promise<boolean> =>
    database.transaction(async (query) => {
      const change = await takeAccountChange(query);
      if (!change) return false;
      const collection = await findCollection(change.collectionId);
      // A dropped collection leaves nothing to undo.
      if (collection) await notifyHolder(query, deps, collection, change);
      return true;
    });

  async function round(ending: AbortSignal): Promise<void> {
    let hasQueued = false;
    while (!ending.aborted && (await hasAccountChanges(database.query)) && (await notifyNext())) hasQueued = true;
    if (hasQueued) bus.notify('mail');
  }

  return {
    start() {
      endNotices = bus.onNotice('accounts', task.wakeSoon);
      task.start();
    },
    async stop(): Promise<void> {
      endNotices();
      await task.stop();
    },
  };
}
