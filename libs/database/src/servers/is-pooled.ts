import type pg from 'pg';

/**
 * Whether a connection leads to a pooler, where clients have no sessions of their own. A pooler reports a process id that
 * is not the id of the server's process (`pg_backend_pid()`).
 */
export const isPooled = (
  client: pg.Client & { readonly processID?: number | null },
  serverProcessId: number,
): boolean => client.processID !== serverProcessId;
