import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import { followedCopy } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import { LRUCache } from 'lru-cache';

/** How often the log is read when the bus tells nothing, and for how long what was read is good, in milliseconds. */
const intervalMs = 400;
const freshMs = 900;

/** The auth service keeps what was revoked for ten minutes; a gap of half of that makes everything old. */
const longestGapMs = 300_000;

/** Subjects that are remembered; beyond them everything that was looked up before the oldest is old. */
const maxSubjects = 50_000;

/** Follows `system.revocations`, the log of accounts and sessions that have to be looked up again. */
export interface RevocationFeed {
  /** Reads the log from here on; throws when the database does not answer. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Was the log read a moment ago? Otherwise `refresh` has to be awaited before `hasTold` is believed. */
  isFresh(): boolean;
  /** Reads what was committed before the call. */
  refresh(): Promise<void>;
  /** How much has been told so far, to be kept with what is looked up. */
  mark(): number;
  /** Has anything been told of one of these since then? */
  hasTold(mark: number, accountId: string, sessionId: string | undefined): boolean;
}

interface FeedDeps {
  readonly database: Pick<Database, 'read'>;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
}

/** Makes the feed. The bus only makes it faster: the log is read twice a second whatever the bus does. */
export function createRevocationFeed({ database, bus, log }: FeedDeps): RevocationFeed {
  let mark = 0;
  /** Whatever was looked up at this mark or before is old. */
  let everythingOldAt = 0;
  const toldAt = new LRUCache<string, number>({
    max: maxSubjects,
    dispose: (at, _subject, reason) => {
      if (reason === 'evict') everythingOldAt = Math.max(everythingOldAt, at - 1);
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

  /** Reads what was committed since a snapshot; gives the snapshot of this read. */
  async function read(before: string | undefined): Promise<string> {
    const since = snapshot.isFresh(longestGapMs) ? before : undefined;
    const [row] = await database.read<{ snapshot: string; subjects: string[] | null }>(readLog(since));
    if (!row) throw new Error('the log of revocations gave no row');
    // What was being looked up while this was told has the mark of before, and so counts as old.
    if (!since || row.subjects) mark += 1;
    if (!since || row.subjects?.includes('*')) everythingOldAt = mark - 1;
    for (const subject of row.subjects ?? []) toldAt.set(subject, mark);
    return row.snapshot;
  }

  return {
    start: snapshot.start,
    stop: snapshot.stop,
    isFresh: () => snapshot.isFresh(freshMs),
    refresh: snapshot.refresh,
    mark: () => mark,
    hasTold: (at, accountId, sessionId) =>
      at <= everythingOldAt ||
      at < (toldAt.get(accountId) ?? 0) ||
      (sessionId !== undefined && at < (toldAt.get(sessionId) ?? 0)),
  };
}

/**
 * What was committed since a snapshot, whatever the order of its ids: a transaction that began before others may commit
 * after them.
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
