import type { Statement } from '../statement.ts';
import type { WorkPlaces } from './work-places.ts';

/** Cancels the statement that a server process runs, unless it waits for a lock. Returns whether it was cancelled. */
export type CancelStatement = (processId: number, statement: Statement) => Promise<boolean>;

/**
 * Creates the function. It sends its statements on these places. It also compares the statement's text, because behind
 * a pooler the process may now serve another connection. It does not cancel a commit that waits for a synchronous
 * standby: PostgreSQL would report it as committed although the standby does not have it.
 */
export const createCancelStatement =
  (places: Pick<WorkPlaces, 'query'>): CancelStatement =>
  async (processId, { text }) => {
    const [row] = await places.query<{ isCanceled: boolean }>({
      name: 'database.cancel',
      text: `select pg_cancel_backend(pid) as "isCanceled" from pg_stat_activity
        where pid = $1 and state = 'active' and wait_event_type is distinct from 'Lock'
          and wait_event is distinct from 'SyncRep' and starts_with($2, left(query, 500))`,
      values: [processId, text],
    });
    return row?.isCanceled === true;
  };
