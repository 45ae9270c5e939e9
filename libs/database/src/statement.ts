import type { Consistency } from '@recordbus/request/consistency';

/**
 * One SQL statement. A named statement is prepared once per connection, and planned once, except in the class `own`. Use
 * names only for texts from a bounded set, and never one name for two texts.
 */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** Whether it is a write that checks a collection's rule. Then the limits in cost §1.6 apply. */
  readonly checksRule?: boolean;
  /**
   * Its time limit, in milliseconds; beyond it 422 `too_expensive`. Has no effect on connections for reads, which have
   * their own statement time.
   */
  readonly limitMs?: number;
  /**
   * Called with the time that it took on its connection, in milliseconds, if it ran on one of its own. How long it waited for the
   * connection is not in it.
   */
  readonly onRan?: (tookMs: number) => void;
  /** The record that it locks, if any. Writes to one record wait for each other. */
  readonly locks?: string;
  /** Whether only the primary may run it, because it reads the caller's account row, or its result is cached. */
  readonly onPrimary?: boolean;
  /** Set for a read that a read replica may serve. */
  readonly fromReplica?: ReplicaRead | undefined;
}

/** The state that a read on a read replica must see. */
export interface ReplicaRead {
  /** A database state that the read must see, in addition to what every read sees. */
  readonly after: Consistency | undefined;
}

/** Runs one statement and returns its rows. */
export type Query = <R>(statement: Statement) => Promise<R[]>;
