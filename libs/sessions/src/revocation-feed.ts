import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import { followedCopy } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { LRUCache } from 'lru-cache';

/** How often the log is read without a notice, in milliseconds. */
const intervalMs = 400;
/** How long a read counts as fresh, in milliseconds. */
const freshMs = 900;

/** The auth service keeps revocations for ten minutes. After a gap half as long, every cached lookup is stale. */
const longestGapMs = 300_000;

/** How many subjects are in memory. When one is evicted, every lookup before its revocation is stale. */
const maxSubjects = 50_000;

/** Accounts and sessions by their ids; `all` when every earlier lookup is stale. */
export type RevokedSubjects = ReadonlySet<string> | 'all';

/** Follows `system.revocations`, the log of accounts and sessions whose cached lookups are stale. */
export interface RevocationFeed {
  /** Begins to follow the log at its present end. Throws when the database does not answer. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Whether the last read is fresh, and no notice came after it. Otherwise await `refresh` before `revokedSince`. */
  isFresh(): boolean;
  /** Reads all revocations that were committed before the call. */
  refresh(): Promise<void>;
  /** Returns the feed's present position; keep it with a lookup's result. */
  mark(): number;
  /** Whether the account or the session was revoked after the mark. */
  revokedSince(mark: number, accountId: string, sessionId: string | undefined): boolean;
  /** Calls the listener after each read that found revocations. Returns a function that removes the listener. */
  onRevoked(listener: (subjects: RevokedSubjects) => void): () => void;
}

interface FeedDeps {
  readonly database: Pick<Database, 'read' | 'onFailover'>;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
}

/** Creates the feed. It reads the log at least twice a second; bus notices only make it faster. */
export function createRevocationFeed({ database, bus, log }: FeedDeps): RevocationFeed {
  let mark = 0;
  /** Lookups with this mark or a lower one are stale. */
  let allStaleAt = 0;
  let isAfterFailover = false;
  let endFailovers = () => {};
  const listeners = new Set<(subjects: RevokedSubjects) => void>();
  const revokedAt = new LRUCache<string, number>({
    max: maxSubjects,
    dispose: (at, _subject, reason) => {
      if (reason === 'evict') allStaleAt = Math.max(allStaleAt, at - 1);
    },
  });
  const snapshot = followedCopy<string>({
    name: 'the revocations',
    log,
    meanwhile: 'tokens are refused',
    pollMs: intervalMs,
    onNotice: (listener) => bus.onNotice('accounts', listener),
    read,
  });

  /** Reads the revocations committed since a snapshot; returns this read's snapshot. */
  async function read(before: string | undefined): Promise<string> {
    // After a failover, new revocations may have transaction ids that the earlier snapshot counts as old.
    const since = snapshot.isFresh(longestGapMs) && !isAfterFailover ? before : undefined;
    isAfterFailover = false;
    const [row] = await database.read<{ snapshot: string; subjects: string[] | null }>(readLog(since));
    if (!row) throw new Error('the revocation log returned no row');
    // A lookup that began before this read has the earlier mark, so it counts as stale.
    if (!since || row.subjects) mark += 1;
    const areAllStale = !since || row.subjects?.includes('*');
    if (areAllStale) allStaleAt = mark - 1;
    for (const subject of row.subjects ?? []) revokedAt.set(subject, mark);
    if (areAllStale || row.subjects) announce(areAllStale ? 'all' : new Set(row.subjects));
    return row.snapshot;
  }

  /** Calls all listeners, including those after one that throws. */
  function announce(subjects: RevokedSubjects): void {
    for (const listener of listeners) {
      try {
        listener(subjects);
      } catch (error) {
        log.error({ err: error }, 'a listener to the revocations failed');
      }
    }
  }

  return {
    async start() {
      endFailovers = database.onFailover(() => {
        isAfterFailover = true;
      });
      await snapshot.start();
    },
    async stop() {
      endFailovers();
      await snapshot.stop();
    },
    isFresh: () => !snapshot.isBehind && snapshot.isFresh(freshMs),
    refresh: snapshot.refresh,
    mark: () => mark,
    revokedSince: (at, accountId, sessionId) =>
      at <= allStaleAt ||
      at < (revokedAt.get(accountId) ?? 0) ||
      (sessionId !== undefined && at < (revokedAt.get(sessionId) ?? 0)),
    onRevoked(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * Selects the revocations committed since a snapshot. An id or a time is not enough, since a transaction that began
 * before others may commit after them.
 */
const readLog = (since: string | undefined) =>
  since === undefined
    ? { name: 'revocations.begin', text: 'select pg_current_snapshot()::text as snapshot', values: [] }
    : {
        name: 'revocations.since',
        text: `select pg_current_snapshot()::text as snapshot, (
            select array_agg(distinct r.subject) from system.revocations r
            where r.transaction_id >= pg_snapshot_xmin($1::pg_snapshot)
              and not pg_visible_in_snapshot(r.transaction_id, $1::pg_snapshot)) as subjects`,
        values: [since],
      };
