import type { PositionCheck } from '../driver/preludes.ts';
import type { Statement } from '../statement.ts';
import type { ReadConnections } from './read-replica.ts';
import type { ReplicaSide } from './replica-side.ts';

/** Runs a statement on one server's connections. */
type RunOn = <R>(connections: ReadConnections, statement: Statement, check?: PositionCheck) => Promise<R[]>;

/**
 * Returns where reads start: on the primary, or on a read replica if they may. A read that turns out to be long starts
 * again on the primary. On a replica it would delay the primary's changes, or be cancelled by them.
 */
export function startingPlaces(primary: ReadConnections, side: ReplicaSide | undefined): ReadConnections {
  const reading = side?.reading;
  if (!reading) return primary;
  const onEither =
    (run: RunOn) =>
    <R>(statement: Statement): Promise<R[]> => {
      const { fromReplica, onPrimary = false } = statement;
      if (!fromReplica || onPrimary) return run<R>(primary, statement);
      return reading.read(
        fromReplica,
        (replica, check) => run<R>(replica, statement, check),
        () => run<R>(primary, statement),
      );
    };
  return {
    gets: { read: onEither(({ gets }, statement, check) => gets.read(statement, check)) },
    pages: { read: onEither(({ pages }, statement, check) => pages.read(statement, check)) },
    quick: { read: onEither(({ quick }, statement, check) => quick.read(statement, check)) },
    short: { query: onEither(({ short }, statement, check) => short.query(statement, undefined, check)) },
  };
}
