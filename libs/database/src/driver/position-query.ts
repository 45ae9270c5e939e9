import type { Statement } from '../statement.ts';
import { type Callback, type DriverConnection, DriverQuery } from './settings-query.ts';

/** The state that a read needs from the read replica that runs it. */
export interface PositionCheck {
  /** The history that the replica must follow: the timeline of the primary. */
  readonly timeline: number;
  /** Called with the position that the replica had before the read; undefined if it does not follow that history. */
  readonly accepts: (position: number | undefined) => boolean;
}

/** Thrown if the replica that ran a read is not recent enough. */
export class BehindError extends Error {
  override name = 'BehindError';
}

/**
 * The position up to which a read replica has the log of the primary. No row if the server is not a standby or lacks
 * the timeline.
 */
export const replicaPosition = (timeline: number) =>
  ({
    name: 'database.replica_position',
    text: `select pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint as position from system.timelines
      where timeline = $1 and pg_is_in_recovery()`,
    values: [timeline],
  }) satisfies Statement;

/**
 * One statement on a read replica with a check of the replica's position before it, in one round trip. Both run on one server,
 * and the statement takes its snapshot after the check. `replicaPosition` must have run on the connection before.
 */
export class PositionQuery extends DriverQuery {
  readonly #timeline: number;
  #position: number | undefined;
  /** Whether the answers now belong to the statement itself, after that of the check. */
  #isChecked = false;

  constructor({ text, values }: Statement, { timeline, accepts }: PositionCheck, callback: Callback) {
    super(text, values, (error, result) => {
      if (error || accepts(this.#position)) callback(error, result);
      else callback(new BehindError('the read replica is behind'), result);
    });
    this.#timeline = timeline;
  }

  override requiresPreparation(): boolean {
    return true;
  }

  override prepare(connection: DriverConnection): void {
    const { name } = replicaPosition(this.#timeline);
    connection.bind({ statement: name, values: [String(this.#timeline)] });
    connection.execute({});
    super.prepare(connection);
  }

  override handleDataRow(message: { readonly fields: readonly (Buffer | string | null)[] }): void {
    if (this.#isChecked) super.handleDataRow(message);
    else if (message.fields[0] !== null) this.#position = Number(String(message.fields[0]));
  }

  override handleCommandComplete(message: unknown, connection: DriverConnection): void {
    if (this.#isChecked) super.handleCommandComplete(message, connection);
    else this.#isChecked = true;
  }
}
