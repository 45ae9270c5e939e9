import type { OwnClassName } from './connections/connection-budget.ts';
import type { ConnectionPool, PoolHooks } from './connections/connection-pool.ts';
import type { Openers } from './connections/openers.ts';
import { createQuickStatements } from './connections/quick-statements.ts';
import type { Query } from './statement.ts';
import { createSharedWrites } from './writes/shared-writes.ts';

/** The connections for the statements and transactions of a service. */
interface OwnConnections {
  readonly own: Readonly<Record<OwnClassName, ConnectionPool>>;
  /** Returns the function that runs a write of one statement. In classes whose writes share commits, quick ones do. */
  writeOn(of: OwnClassName): Query;
  close(): Promise<void>;
}

/** Commits do not wait for the disk. */
const relaxed = { synchronous_commit: 'off' };

/** Creates the connections. Each opens when it is needed. */
export function openOwnConnections(
  openers: Openers,
  { onWork, cancel }: Pick<PoolHooks, 'onWork' | 'cancel'>,
): OwnConnections {
  const quickWrites = createQuickStatements();
  const quickRelaxed = createQuickStatements();
  const own = {
    writes: openers.pool('writes', { onWork, cancel, onExecuted: quickWrites.noteRun }),
    relaxedWrites: openers.pool('relaxedWrites', { onWork, cancel, onExecuted: quickRelaxed.noteRun }, relaxed),
    signIn: openers.pool('signIn', { onWork, cancel }),
    admin: openers.pool('admin', { onWork }),
    background: openers.pool('background'),
  };
  const shared = openers.pool('sharedWrites', { onWork });
  const sharedRelaxed = openers.pool('sharedRelaxed', { onWork }, relaxed);
  const sharing = {
    writes: createSharedWrites({ of: 'sharedWrites', shared, alone: own.writes, statements: quickWrites }),
    relaxedWrites: createSharedWrites({
      of: 'sharedRelaxed',
      shared: sharedRelaxed,
      alone: own.relaxedWrites,
      statements: quickRelaxed,
    }),
  };
  return {
    own,
    writeOn: (of) =>
      of === 'writes' || of === 'relaxedWrites' ? sharing[of].write : (statement) => own[of].query(statement),
    async close() {
      await Promise.all([shared, sharedRelaxed, ...Object.values(own)].map((pool) => pool.close()));
    },
  };
}
