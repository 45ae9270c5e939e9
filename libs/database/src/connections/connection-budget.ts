import { availableParallelism } from 'node:os';
import type { SessionSettings } from './session-settings.ts';

/** A connection class. Its sessions have the same settings, and any work on it may get any session. */
export interface ConnectionClass {
  /** The server ends a statement after this time, in milliseconds. */
  readonly statementMs: number;
  /** Its sessions' settings. The statement time is set separately. */
  readonly settings?: SessionSettings;
}

/** Reads cannot write, even if a view calls a function that writes. */
const readOnly = { default_transaction_read_only: 'on' };
/**
 * A shaped read keeps one core busy. With parallel workers a scan over 100,000 rows took 49 ms instead of 67 ms alone,
 * but it used 166 ms instead of 89 ms processor time, and four such scans left no core to gets and sign-ins.
 * A search counts a million records' matches in 185 ms instead of 450 ms processor time if it can note all their pages,
 * which 4 MB do not hold.
 */
const serialReads = { ...readOnly, max_parallel_workers_per_gather: '0', work_mem: '16MB' };

/** The classes (README.md). */
const connectionClasses = {
  /** Gets, small pages, quick shaped reads, and services' own reads, which keep the login role. Pipelined. */
  reads: { statementMs: 500, settings: serialReads },
  /** Every other shaped read. Each starts with this statement time; long ones have their own. */
  shapedReads: { statementMs: 250, settings: serialReads },
  /**
   * An export waits for its client within its transaction. The process gives up first (export-limits.ts).
   */
  liveAndExports: { statementMs: 5000, settings: { ...serialReads, idle_in_transaction_session_timeout: '2min' } },
  writes: { statementMs: 15_000 },
  /** A write that takes long or waits for a lock would delay the other writes in its commit, so it runs again alone. */
  sharedWrites: { statementMs: 250, settings: { lock_timeout: '50ms' } },
  /**
   * The process's own work and admins' work. Schema changes set their own statement time. Queues grow from nothing to
   * 100,000 rows within seconds, and a plan from before would read whole tables until PostgreSQL's next statistics: each
   * statement is planned for the tables as they are. Their newest rows are in memory, so an index costs little there.
   */
  own: { statementMs: 30_000, settings: { plan_cache_mode: 'force_custom_plan', random_page_cost: '1.1' } },
  health: { statementMs: 2000 },
} as const satisfies Record<string, ConnectionClass>;

export type ClassName = keyof typeof connectionClasses;

/** A kind of work, which has places on a class's connections. */
export interface Work {
  readonly on: ClassName;
  /** How much of it runs at once in a process. Other work never takes these places. */
  readonly places: number;
  /** The maximum number that one client may hold; all by default. */
  readonly perClient?: number;
  /** How many places guests leave to users, and users and guests to admins; none by default. */
  readonly reserved?: number;
  /** How long work waits for a place before it is refused, in milliseconds. */
  readonly waitMs: number;
  /** How much work may wait, for all clients together. On pipelined connections: how much may be in progress. */
  readonly maxWaiting: number;
}

/**
 * The places for all work in a process on a machine with so many cores (docs/cost-budget.md). A class has as many
 * connections as its work has places: sign-ins, writes and health checks always find one.
 */
export function worksOn(cores: number) {
  /**
   * Shaped reads keep the processor busy. With more at once, gets and sign-ins wait for a core instead of a connection.
   */
  const shortReads = Math.min(Math.max(2 * cores, 4), 8);
  /** Each read keeps one core busy. */
  const longReads = Math.min(cores, 6);
  /**
   * An export spends most of its time waiting for the service, which writes its rows, or for its client. So guests have
   * as many as there are cores. One more is for users, and one more for admins.
   */
  const guestExports = Math.min(Math.max(cores, 2), 4);
  return {
    /** Gets. */
    gets: { on: 'reads', places: 2, waitMs: 0, maxWaiting: 10_000 },
    /** First list pages that are not shaped reads, and shaped reads whose statement is known to be quick. */
    pages: { on: 'reads', places: 2, waitMs: 0, maxWaiting: 5000 },
    /** Services' own reads: sessions, accounts, settings, and what fills their in-memory copies. */
    ownReads: { on: 'reads', places: 1, waitMs: 0, maxWaiting: 10_000 },
    /** Every other shaped read starts here. If it does not finish in time, it starts again among the long reads. */
    shortReads: { on: 'shapedReads', places: shortReads, waitMs: 5000, maxWaiting: 1000 },
    /** Reads that did not finish in time. */
    longReads: { on: 'shapedReads', places: longReads, waitMs: 10_000, maxWaiting: 200 },
    /** Judging changes for live subscriptions. It and lists, writes and sign-ins do not wait for each other. */
    live: { on: 'liveAndExports', places: 4, perClient: 2, waitMs: 10_000, maxWaiting: 2000 },
    /**
     * Export cursors, which hold a connection and its snapshot as long as their clients read. While others wait, slow
     * readers are cut (export §4.3).
     */
    exports: {
      on: 'liveAndExports',
      places: guestExports + 2,
      perClient: guestExports / 2,
      reserved: 1,
      waitMs: 10_000,
      maxWaiting: 100,
    },
    /** Records and files. One client leaves three places to the others. */
    writes: { on: 'writes', places: 14, perClient: 11, waitMs: 5000, maxWaiting: 4000 },
    /** Sign-ins and registrations, and the rate limit counters before them. */
    signIn: { on: 'writes', places: 5, perClient: 4, waitMs: 5000, maxWaiting: 2000 },
    /** Writes that share commits. */
    sharedWrites: { on: 'sharedWrites', places: 2, waitMs: 5000, maxWaiting: 1000 },
    /** Admins' work. */
    admin: { on: 'own', places: 3, waitMs: 5000, maxWaiting: 500 },
    /** Work that no client waits for: the outbox, deliveries, sweeps, logs, migrations. */
    background: { on: 'own', places: 5, waitMs: 10_000, maxWaiting: 5000 },
    /** `/readyz`, which never waits for other work. */
    health: { on: 'health', places: 1, waitMs: 2000, maxWaiting: 100 },
  } as const satisfies Record<string, Work>;
}

const cores = availableParallelism();
const works = worksOn(cores);

export type WorkName = keyof typeof works;

/** The work for which services run their own statements and transactions. Relaxed writes share the writes' places. */
export type OwnWork = 'writes' | 'relaxedWrites' | 'signIn' | 'admin' | 'background';

/** A class's limits. */
export const classOf = (name: ClassName): ConnectionClass => connectionClasses[name];

/** The limits for a kind of work. */
export const workOf = (name: WorkName): Work => works[name];

/** How much work runs at once in a process that opens at most so many connections for each kind of work. */
export const placesOf = (name: WorkName, most = Number.POSITIVE_INFINITY): number => Math.min(works[name].places, most);

/** The most connections that a class has in such a process. They are opened when needed. */
export const connectionsOf = (name: ClassName, most?: number): number =>
  (Object.keys(works) as WorkName[])
    .filter((work) => works[work].on === name)
    .reduce((sum, work) => sum + placesOf(work, most), 0);

/** Limits on shaped reads, in addition to those on their connections. */
export const shapedReadBudget = {
  /** Reads that one client may have at once (cost §1.2). */
  perClient: 4,
  /** The same for quick reads. Further ones start like other reads, where clients take turns. */
  quickPerClient: 32,
  /** The statement time of a quick read, in milliseconds. If it does not end in time, it starts again as a short read. */
  quickMs: 25,
  /** All clients' reads at once, including those that wait for a long-read connection. */
  atOnce: 64,
  /** How many places guests leave to users, and users and guests to admins. */
  reserved: 4,
  /** How long a read waits for its client's earlier reads, in milliseconds. */
  waitMs: 3000,
  maxWaiting: 2000,
  maxWaitingPerClient: 200,
  /** Long reads at once while a process has other work for the database, which keeps one core. */
  longBesideOthers: Math.min(Math.max(cores - 1, 1), works.longReads.places),
  /** How long after its last other work a process lets long reads use every core, in milliseconds. */
  quietMs: 2000,
  /** Short-read connections for clients whose recent reads were long. */
  slowClientConnections: Math.max(works.shortReads.places / 4, 1),
  /** How often a waiting long read checks whether one on another replica has ended, in milliseconds. */
  slotRetryMs: 250,
} as const;

/** Decides which statements count as quick and may share connections. Times are in milliseconds, without the commit. */
export const quickBudget = {
  /** A statement that ends within this time on its own connection is quick. */
  quickMs: 5,
  /**
   * A statement that takes longer than this is no longer quick. In between nothing changes: the process may have been
   * busy.
   */
  slowMs: 20,
  /** One in this many runs of a quick statement gets its own connection, which shows whether it is still quick. */
  runsPerProbe: 16,
  /** How long a statement that did not end in time is not treated as quick. */
  banMs: 10_000,
  /** How many statements are remembered at most. */
  maxKnown: 2000,
} as const;

/** How writes share commits. */
export const sharedWriteBudget = {
  /** How many writes one commit has at most. */
  perCommit: 16,
  /** Writes at once, by all clients and by each. Others get their own connection, for which clients take turns. */
  atOnce: 128,
  perClient: 64,
  /** How long a client whose write was refused shares no commit, in milliseconds: the others had to run again. */
  apartMs: 10_000,
  maxApart: 1000,
} as const;

/** Limits on large answers that a process holds in memory because their clients have not read them yet. */
export const largeAnswerBudget = {
  /**
   * A larger answer occupies its client's place among the shaped reads until it is sent or its connection is closed.
   */
  fromBytes: 256 * 2 ** 10,
  /** How many bytes all of them have together at most. */
  maxBytes: 256 * 2 ** 20,
  /**
   * How many answers there are at most. If the gateway is another process, each answer also holds one connection to it.
   */
  maxAnswers: 128,
  /** The share that users and guests leave to admins, in bytes and in answers. */
  adminShare: 1 / 8,
  /** How long an answer waits for room, in milliseconds. */
  waitMs: 3000,
} as const;
