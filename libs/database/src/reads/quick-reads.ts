import { createClientCounts } from '../connections/client-counts.ts';
import { shapedReadBudget } from '../connections/connection-budget.ts';
import type { QuickStatements } from '../connections/quick-statements.ts';
import type { ReadLane } from '../connections/read-lane.ts';
import { isDatabaseError, sqlState } from '../errors.ts';
import type { Statement } from '../statement.ts';
import type { LongReadWidth } from './long-read-width.ts';
import type { ReadPlaces } from './read-places.ts';
import type { SlowReaders } from './slow-readers.ts';

/** Shaped reads that share pipelined connections because their statements are known to be quick. */
export interface QuickReads {
  /**
   * Runs a quick read. Returns undefined if the read must start as an ordinary shaped read: it is not known to be
   * quick, was not quick this time, or its client has too many reads here.
   */
  tryRead<R>(client: string, statement: Statement): Promise<R[] | undefined>;
}

interface QuickReadsDeps {
  readonly lane: Pick<ReadLane, 'read'>;
  readonly statements: QuickStatements;
  readonly slowReaders: Pick<SlowReaders, 'isEmpty' | 'isSlow'>;
  readonly longWidth: Pick<LongReadWidth, 'noteShortWork'>;
  readonly places: Pick<ReadPlaces, 'keeps'>;
}

/**
 * Creates the quick reads. Each connection runs one statement at a time, so together they cost as much as two clients
 * may.
 */
export function createQuickReads(deps: QuickReadsDeps): QuickReads {
  const { lane, statements, slowReaders, longWidth, places } = deps;
  const clients = createClientCounts(shapedReadBudget.quickPerClient);

  return {
    async tryRead<R>(client: string, statement: Statement) {
      if (!statements.mayShare(statement)) return undefined;
      if (!slowReaders.isEmpty && slowReaders.isSlow(client)) return undefined;
      if (!clients.tryEnter(client)) return undefined;
      longWidth.noteShortWork();
      try {
        const rows = await lane.read<R>(statement);
        return places.keeps(rows, () => client) ? rows : undefined;
      } catch (error) {
        if (!isDatabaseError(error, sqlState.queryCanceled)) throw error;
        statements.noteTooLong(statement);
        return undefined;
      } finally {
        clients.leave(client);
      }
    },
  };
}
