import type { Bus } from '@recordbus/bus';
import type { Database, Query } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';
import { createRefresh } from '@recordbus/shared/refresh';
import { type HookedAccounts, hookedAccounts } from './account-hooks.ts';

/** Until somebody has said what has hooks, every sign-in is asked about. */
const unknown: HookedAccounts = { signIn: ['*'], signedIn: [], create: [], update: [] };

/**
 * Notes what has hooks by now, for services that don't run them: what the replica has that was the last to load its
 * extensions. After the commit the bus is to be told (`notify('account-hooks')`) when this gives true: it is news.
 */
export async function noteHookedAccounts(query: Query, hooked: HookedAccounts): Promise<boolean> {
  const rows = await query({
    text: `insert into system.hooked_accounts as known (hooked) values ($1::jsonb)
      on conflict (only_row) do update set hooked = excluded.hooked where known.hooked <> excluded.hooked returning 1`,
    values: [JSON.stringify(hooked)],
  });
  return rows.length > 0;
}

/** What has hooks, in memory; followed at once, within 5 s without the bus. */
export interface HookedAccountsCopy {
  readonly current: HookedAccounts;
  /** Loads it; throws when the database does not answer. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface FollowDeps {
  readonly database: Pick<Database, 'read'>;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
  /** How soon a replica that heard nothing from the bus looks for itself, in milliseconds. */
  readonly pollIntervalMs?: number;
}

/** Follows what was noted; the last copy stays in use while the database is away. */
export function followHookedAccounts({ database, bus, log, pollIntervalMs = 5000 }: FollowDeps): HookedAccountsCopy {
  let current = unknown;
  let timer: NodeJS.Timeout | undefined;
  let endNotices = () => {};
  const refresh = createRefresh(async () => {
    const [row] = await database.read<{ hooked: unknown }>({
      text: 'select hooked from system.hooked_accounts',
      values: [],
    });
    current = row ? hookedAccounts.parse(row.hooked) : unknown;
  });
  const follow = () =>
    refresh.run().catch((error) => log.warn({ err: error }, 'which accounts have hooks could not be read again'));

  return {
    get current() {
      return current;
    },
    async start() {
      endNotices = bus.onNotice('account-hooks', follow);
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
