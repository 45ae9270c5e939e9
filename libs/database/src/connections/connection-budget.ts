import { availableParallelism } from 'node:os';
import type { SessionSettings } from './session-settings.ts';

/** The limits of one class of connections to the database. */
export interface ConnectionClass {
  /** The maximum number of connections of one process. They are opened when needed. */
  readonly connections: number;
  /** The maximum number that one client may hold; all by default. */
  readonly perClient?: number;
  /** How many connections guests leave to users, and users and guests to admins; none by default. */
  readonly reserved?: number;
  /** The server ends a statement after this time, in milliseconds. */
  readonly statementMs: number;
  /** How long work waits for a connection before it is refused, in milliseconds. */
  readonly waitMs: number;
  /** How much work may wait: of all clients together, and of each client. */
  readonly maxWaiting: number;
  readonly maxWaitingPerClient?: number;
  /** The settings of its sessions. The statement time is set separately. */
  readonly settings?: SessionSettings;
}

/** Reads cannot write, even if a view calls a function that writes. */
const readOnly = { default_transaction_read_only: 'on' };
/**
 * A shaped read keeps one core busy. With parallel workers a scan of 100,000 rows took 49 ms instead of 67 ms alone, but
 * 166 ms instead of 89 ms of processor time, and four of them left no core to gets and sign-ins.
 */
const serialReads = { ...readOnly, max_parallel_workers_per_gather: '0' };
/** An export waits for its client within its transaction. The process gives up first (export-limits.ts). */
const waitingReads = { ...serialReads, idle_in_transaction_session_timeout: '2min' };

const cores = availableParallelism();

/** Shaped reads keep the processor busy. With more at once, gets and sign-ins wait for a core instead of a connection. */
const shortReads = Math.min(Math.max(2 * cores, 4), 8);

const relaxedWrites = 8;

/** A write that takes long or waits for a lock would delay the other writes of its commit, so it runs again alone. */
const sharedCommits = { statementMs: 250, waitMs: 5000, maxWaiting: 1000, settings: { lock_timeout: '50ms' } };

/** Each read keeps one core busy. */
const longReads = Math.min(cores, 8);

/**
 * An export spends most of its time waiting for the service, which writes its rows, or for its client. So guests have as
 * many as there are cores. One more is for users, and one more for admins.
 */
const guestExports = Math.min(Math.max(cores, 2), 4);

/**
 * The cost budget (docs/cost-budget.md). Classes share no connections, so sign-ins, writes and health checks always
 * find one.
 */
export const connectionBudget = {
  /**
   * Gets, and reads of what services keep in memory. Pipelined: `maxWaiting` is the maximum number of reads in
   * progress.
   */
  gets: { connections: 2, statementMs: 500, waitMs: 0, maxWaiting: 10_000 },
  /** First pages of lists that are not shaped reads. Pipelined like gets. */
  lists: { connections: 2, statementMs: 500, waitMs: 0, maxWaiting: 5000 },
  /** Shaped reads whose statement is known to be quick. Pipelined; if one does not end in time, it starts again. */
  quickReads: { connections: 2, statementMs: 25, waitMs: 0, maxWaiting: 2000, settings: serialReads },
  /** Every other shaped read starts here. If it does not finish in time, it starts again among the long reads. */
  shortReads: { connections: shortReads, statementMs: 250, waitMs: 5000, maxWaiting: 1000, settings: serialReads },
  /** Reads that did not finish in time. Each has its own statement time. */
  longReads: {
    connections: longReads,
    statementMs: 5000,
    waitMs: 10_000,
    maxWaiting: 200,
    settings: serialReads,
  },
  /** Judging changes for live subscriptions. It and lists, writes and sign-ins do not wait for each other. */
  liveReads: {
    connections: 4,
    perClient: 2,
    statementMs: 5000,
    waitMs: 10_000,
    maxWaiting: 2000,
    settings: serialReads,
  },
  /**
   * Cursors of exports, which hold a connection and its snapshot as long as their clients read. While others wait, slow
   * readers are cut (export §4.3).
   */
  exports: {
    connections: guestExports + 2,
    perClient: guestExports / 2,
    reserved: 1,
    statementMs: 5000,
    waitMs: 10_000,
    maxWaiting: 100,
    settings: waitingReads,
  },
  /** Records and files. One client leaves four connections to the others. */
  writes: { connections: 24, perClient: 20, statementMs: 15_000, waitMs: 5000, maxWaiting: 4000 },
  /** Writes that share commits. */
  sharedWrites: { connections: 2, ...sharedCommits },
  /**
   * Writes of relaxed collections, which do not wait for the disk (collections §1.6). Only the processor limits them,
   * so a few are enough.
   */
  relaxedWrites: {
    connections: relaxedWrites,
    perClient: relaxedWrites - 2,
    statementMs: 15_000,
    waitMs: 5000,
    maxWaiting: 4000,
  },
  /** Writes of relaxed collections that share commits. */
  sharedRelaxed: { connections: 2, ...sharedCommits },
  /** Sign-ins and registrations, and the counters of rate limits before them. */
  signIn: { connections: 6, perClient: 5, statementMs: 10_000, waitMs: 5000, maxWaiting: 2000 },
  /** Work of admins. Changes of the schema set their own statement time. */
  admin: { connections: 4, statementMs: 30_000, waitMs: 5000, maxWaiting: 500 },
  /** Work that no client waits for: the outbox, deliveries, sweeps, logs, migrations. */
  background: { connections: 6, statementMs: 30_000, waitMs: 10_000, maxWaiting: 5000 },
  /** `/readyz`, which never waits for other work. */
  health: { connections: 1, statementMs: 2000, waitMs: 2000, maxWaiting: 100 },
} as const satisfies Record<string, ConnectionClass>;

export type ClassName = keyof typeof connectionBudget;

/** The classes on which services run statements and transactions of their own. */
export type OwnClassName = 'writes' | 'relaxedWrites' | 'signIn' | 'admin' | 'background';

/** The limits of a class. */
export const classOf = (name: ClassName): ConnectionClass => connectionBudget[name];

/** The limits of shaped reads, in addition to those of their connections. */
export const shapedReadBudget = {
  /** Reads that one client may have at once (cost §1.2). */
  perClient: 4,
  /** The same for quick reads. Further ones start like other reads, where clients take turns. */
  quickPerClient: 32,
  /** Reads of all clients at once, including those that wait for a connection of the long reads. */
  atOnce: 64,
  /** How many of them guests leave to users, and users and guests to admins. */
  reserved: 4,
  /** How long a read waits for earlier reads of its client, in milliseconds. */
  waitMs: 3000,
  maxWaiting: 2000,
  maxWaitingPerClient: 200,
  /** Long reads at once while a process has other work for the database, which keeps one core. */
  longBesideOthers: Math.min(Math.max(cores - 1, 1), longReads),
  /** How long after its last other work a process lets long reads use every core, in milliseconds. */
  quietMs: 2000,
  /** Connections of the short reads for clients whose recent reads were long. */
  slowClientConnections: Math.max(shortReads / 4, 1),
  /** How often a waiting long read checks whether one on another replica has ended, in milliseconds. */
  slotRetryMs: 250,
} as const;

/** Decides which statements count as quick and may share connections. Times are in milliseconds, without the commit. */
export const quickBudget = {
  /** A statement that ends within this time on a connection of its own is quick. */
  quickMs: 5,
  /**
   * A statement that takes longer than this is no longer quick. In between nothing changes: the process may have been
   * busy.
   */
  slowMs: 20,
  /** One of this many runs of a quick statement gets a connection of its own, which shows whether it is still quick. */
  runsPerProbe: 16,
  /** How long a statement that did not end in time is not treated as quick. */
  banMs: 10_000,
  /** The maximum number of remembered statements. */
  maxKnown: 2000,
} as const;

/** How writes share commits. */
export const sharedWriteBudget = {
  /** The maximum number of writes in one commit. */
  perCommit: 16,
  /** Writes at once, of all clients and of each. Others get a connection of their own, for which clients take turns. */
  atOnce: 128,
  perClient: 64,
  /** How long a client whose write was refused shares no commit, in milliseconds: the others had to run again. */
  apartMs: 10_000,
  maxApart: 1000,
} as const;

/** The limits of large answers that a process holds in memory because their clients have not read them yet. */
export const largeAnswerBudget = {
  /**
   * A larger answer occupies its client's place among the shaped reads until it is sent or its connection is closed.
   */
  fromBytes: 256 * 2 ** 10,
  /** The maximum number of bytes of all of them together. */
  maxBytes: 256 * 2 ** 20,
  /**
   * The maximum number of answers. If the gateway is another process, each answer also holds one of its connections.
   */
  maxAnswers: 128,
  /** The share of both that users and guests leave to admins. */
  adminShare: 1 / 8,
  /** How long an answer waits for room, in milliseconds. */
  waitMs: 3000,
} as const;
