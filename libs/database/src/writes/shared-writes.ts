import { currentClient } from '@recordbus/request/request-scope';
import { sharedWriteBudget, workOf } from '../connections/connection-budget.ts';
import type { QuickStatements } from '../connections/quick-statements.ts';
import type { WorkPlaces } from '../connections/work-places.ts';
import { GroupError } from '../driver/group-query.ts';
import { isConnectionError, isDatabaseError, sqlState } from '../errors.ts';
import type { Query, Statement } from '../statement.ts';
import { createClientShares } from './client-shares.ts';

/** Where writes with one durability run: together with others, or alone. */
interface Commits {
  readonly shared: Pick<WorkPlaces, 'group'>;
  readonly alone: Pick<WorkPlaces, 'query'>;
}

/** A write that waits for its commit. */
interface Write {
  readonly client: string;
  readonly commits: Commits;
  readonly statement: Statement;
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Codes for statements that ran too long or waited too long for a lock. */
const delays = [sqlState.queryCanceled, sqlState.lockNotAvailable, sqlState.deadlockDetected];

/**
 * Creates the writes that share commits: waiting writes go to the server as one group, and one disk sync serves all of
 * them. If the server refuses one, nothing in the group is written, and each write runs again alone. Writes in a group
 * have the same commits.
 */
export function createSharedWrites(statements: QuickStatements): (commits: Commits) => Query {
  const { places } = workOf('sharedWrites');
  const shares = createClientShares();
  const waiting: Write[] = [];
  /** The records that are in a group. */
  const locked = new Set<string | undefined>();
  let groups = 0;
  let isPlanned = false;

  /** Sends the waiting writes in groups of equal size, one for each place. */
  function sendGroups(): void {
    isPlanned = false;
    while (groups < places) {
      const size = Math.min(Math.ceil(waiting.length / (places - groups)), sharedWriteBudget.perCommit);
      const group = takeGroup(size);
      const [first] = group;
      if (!first) return;
      groups += 1;
      void send(group, first.commits).finally(() => {
        groups -= 1;
        for (const { statement } of group) locked.delete(statement.locks);
        sendGroups();
      });
    }
  }

  /**
   * Takes the first writes whose record is in no other group. That group would hold the record's lock until its commit.
   */
  function takeGroup(size: number): readonly Write[] {
    const group: Write[] = [];
    for (let at = 0; at < waiting.length && group.length < size; ) {
      const write = waiting[at] as Write;
      const isOther = group[0] !== undefined && group[0].commits !== write.commits;
      if (isOther || locked.has(write.statement.locks)) at += 1;
      else group.push(...waiting.splice(at, 1));
    }
    for (const { statement } of group) if (statement.locks !== undefined) locked.add(statement.locks);
    return group;
  }

  async function send(group: readonly Write[], { shared, alone }: Commits): Promise<void> {
    try {
      const rows = await shared.group(group.map(({ statement }) => statement));
      for (const [place, { resolve }] of group.entries()) resolve(rows[place] ?? []);
    } catch (error) {
      if (error instanceof GroupError) noteRefused(group[error.place], error.cause);
      const cause = error instanceof GroupError ? error.cause : error;
      // It is not known whether the commit took place.
      if (isConnectionError(cause)) for (const { reject } of group) reject(cause);
      else for (const { statement, resolve, reject } of group) alone.query(statement).then(resolve, reject);
    }
  }

  function noteRefused(write: Write | undefined, error: unknown): void {
    if (!write) return;
    shares.keepApart(write.client);
    if (isDatabaseError(error, ...delays)) statements.noteTooLong(write.statement);
  }

  return (commits) =>
    async <R>(statement: Statement): Promise<R[]> => {
      const { alone } = commits;
      if (!statements.mayShare(statement)) return alone.query<R>(statement);
      const client = currentClient() ?? 'own';
      if (!shares.tryEnter(client)) return alone.query<R>(statement);
      try {
        return await new Promise<R[]>((resolve, reject) => {
          waiting.push({ client, commits, statement, resolve: resolve as Write['resolve'], reject });
          if (isPlanned) return;
          // Writes in the same event loop turn belong together.
          isPlanned = true;
          setImmediate(sendGroups);
        });
      } finally {
        shares.leave(client);
      }
    };
}
