import type { Statement } from '../statement.ts';

/** Settings for one transaction, as JSON text: names and values. */
export type TransactionSettings = string;

/** The statement that applies settings until the transaction ends. Its first value is the process id. */
export const applySettings = (settings: TransactionSettings) =>
  ({
    name: 'database.settings',
    text: 'select pg_backend_pid(), count(set_config(key, value, true)) from jsonb_each_text($1)',
    values: [settings],
  }) satisfies Statement;

/** The state that a read needs from the read replica that runs it. */
export interface PositionCheck {
  /** The history that the replica must follow: the primary's timeline. */
  readonly timeline: number;
  /** Called with the position that the replica had before the read; undefined if it does not follow that history. */
  readonly accepts: (position: number | undefined) => boolean;
}

/** Thrown if the replica that ran a read is not recent enough. */
export class BehindError extends Error {
  override name = 'BehindError';
}

/**
 * The position up to which a read replica has the primary's log. No row if the server is not a standby or lacks the
 * timeline.
 */
export const replicaPosition = (timeline: number) =>
  ({
    name: 'database.replica_position',
    text: `select pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint as position from system.timelines
      where timeline = $1 and pg_is_in_recovery()`,
    values: [String(timeline)],
  }) satisfies Statement;
