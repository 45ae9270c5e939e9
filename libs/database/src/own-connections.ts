import type { OwnWork } from './connections/connection-budget.ts';
import type { ConnectionPool } from './connections/connection-pool.ts';
import type { Openers } from './connections/openers.ts';
import { createQuickStatements } from './connections/quick-statements.ts';
import type { WorkHooks, WorkPlaces } from './connections/work-places.ts';
import type { Query } from './statement.ts';
import { createSharedWrites } from './writes/shared-writes.ts';

/** The connections for a service's statements and transactions. */
interface OwnConnections {
  readonly places: Readonly<Record<OwnWork, WorkPlaces>>;
  /** Runs a write with one statement. Quick record writes share commits. */
  readonly write: Readonly<Record<OwnWork, Query>>;
  /** The driver's pool for migrations. */
  readonly driverPool: ConnectionPool['driverPool'];
  close(): Promise<void>;
}

/** Commits do not wait for the disk. */
const relaxed = { synchronous_commit: 'off' };

/** Creates the connections. Each opens when it is needed. */
export function openOwnConnections(
  openers: Openers,
  { onWork, cancel }: Pick<WorkHooks, 'onWork' | 'cancel'>,
): OwnConnections {
  const quickWrites = createQuickStatements();
  const [writing, sharing, own] = [openers.pool('writes'), openers.pool('sharedWrites'), openers.pool('own')];
  const writes = writing.placesOf('writes', { onWork, cancel, onExecuted: quickWrites.noteRun });
  const places = {
    writes,
    relaxedWrites: writes.with(relaxed),
    signIn: writing.placesOf('signIn', { onWork, cancel }),
    admin: own.placesOf('admin', { onWork }),
    background: own.placesOf('background'),
  };
  const shared = sharing.placesOf('sharedWrites', { onWork });
  const shareCommits = createSharedWrites(quickWrites);
  const alone =
    (of: OwnWork): Query =>
    (statement) =>
      places[of].query(statement);
  return {
    places,
    write: {
      writes: shareCommits({ shared, alone: writes }),
      relaxedWrites: shareCommits({ shared: shared.with(relaxed), alone: places.relaxedWrites }),
      signIn: alone('signIn'),
      admin: alone('admin'),
      background: alone('background'),
    },
    driverPool: own.driverPool,
    async close() {
      await Promise.all([writing, sharing, own].map((pool) => pool.close()));
    },
  };
}
