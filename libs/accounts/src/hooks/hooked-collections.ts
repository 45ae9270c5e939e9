import type { Bus } from '@recordbus/bus';
import type { Database, Query } from '@recordbus/database';
import { type FollowedCopy, followedCopy } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { type HookedCollections, hookedCollections } from './account-hooks.ts';

/** Until a records service has stored its hooks, every sign-in is checked with it. */
const unknown: HookedCollections = { signIn: ['*'], signedIn: [], create: [], update: [] };

/**
 * Stores the collections with hooks for services that do not run hooks. The replica that last loaded its extensions
 * decides. Returns whether they changed: then the caller sends the notice `account-hooks` after the commit.
 */
export async function storeHookedCollections(query: Query, hooked: HookedCollections): Promise<boolean> {
  const rows = await query({
    text: `insert into system.hooked_accounts as known (hooked) values ($1::jsonb)
      on conflict (only_row) do update set hooked = excluded.hooked where known.hooked <> excluded.hooked returning 1`,
    values: [JSON.stringify(hooked)],
  });
  return rows.length > 0;
}

/** A followed copy of the collections with hooks. It follows changes at once, without the bus within 5 s. */
export type HookedCollectionsCopy = Pick<FollowedCopy<HookedCollections>, 'current' | 'start' | 'stop'>;

interface FollowDeps {
  readonly database: Pick<Database, 'read'>;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
  /** How often a replica reads without a notice, in milliseconds. */
  readonly pollIntervalMs?: number;
}

/** Follows the stored collections with hooks. The last copy stays in use while the database is unavailable. */
export function followHookedCollections({
  database,
  bus,
  log,
  pollIntervalMs = 5000,
}: FollowDeps): HookedCollectionsCopy {
  return followedCopy({
    name: 'account hooks',
    log,
    pollMs: pollIntervalMs,
    onNotice: (listener) => bus.onNotice('account-hooks', listener),
    async read() {
      const [row] = await database.read<{ hooked: unknown }>({
        text: 'select hooked from system.hooked_accounts',
        values: [],
      });
      return row ? hookedCollections.parse(row.hooked) : unknown;
    },
  });
}
