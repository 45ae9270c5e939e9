import type pg from 'pg';

/** A session that waits for its client. */
export interface IdleSession {
  readonly processId: number;
  /** Since when it waits, as the server's text; empty for a session that has ended. */
  readonly since: string;
}

/**
 * Whether a session waits for its client: for the next statement, for the rest of one, or for the client to take the
 * answer. A session that copies is at work. If the server does not track its sessions (`track_activities`), no session
 * counts as waiting.
 */
const idle = `(state like 'idle%' or state = 'active' and wait_event_type = 'Client') and query not ilike 'copy %'`;

const since = `backend_start::text || ' ' || state_change::text`;

/** Returns which of these server processes wait for their clients, or have ended. */
export async function findIdleSessions(
  client: pg.ClientBase,
  processIds: readonly number[],
): Promise<ReadonlyMap<number, IdleSession>> {
  const { rows } = await client.query<IdleSession>(
    `select id as "processId", case when pid is null then '' else ${since} end as since
     from unnest($1::int[]) id left join pg_stat_activity on pid = id
     where pid is null or ${idle}`,
    [processIds],
  );
  return new Map(rows.map((row) => [row.processId, row]));
}

/** Ends the sessions that are still idle since the same moment. Their transactions are rolled back. */
export async function endSessions(client: pg.ClientBase, sessions: readonly IdleSession[]): Promise<void> {
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     join unnest($1::int[], $2::text[]) found (id, since) on pid = id and ${since} = found.since
     where ${idle}`,
    [sessions.map(({ processId }) => processId), sessions.map((session) => session.since)],
  );
}
