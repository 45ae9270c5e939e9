import { ArchiveRefused } from '@recordbus/backup';
import { openCommandSession, PooledSession, type Query, takeCommandLock } from '@recordbus/database';
import { conflict, isDiskFull } from '@recordbus/errors';
import type pg from 'pg';
import { OutOfRoom } from './room.ts';

/** Opens a session with the command lock. Throws 409 while a backup or another command runs, and behind a pooler. */
export async function openSession(databaseUrl: string): Promise<pg.Client> {
  const client = await openCommandSession('backup', databaseUrl).catch((error: unknown) => {
    if (!(error instanceof PooledSession)) throw error;
    throw conflict(
      'pooled_database',
      'the database is behind a pooler, and a backup needs its own session: use the command line, with the server itself in SERVICE_DATABASE_URL',
    );
  });
  const other = await takeCommandLock(client);
  if (other === undefined) return client;
  await client.end();
  throw conflict(
    'command_running',
    `another command is using the database${other && ` (${other})`}: wait until it is done`,
  );
}

/**
 * Returns a function that ends a session. The server notices a lost client only when its query ends, and a query may
 * wait long for a lock.
 */
export async function sessionEnd(query: Query, client: pg.Client): Promise<() => Promise<unknown>> {
  const { rows } = await client.query<{ id: number }>('select pg_backend_pid() as id');
  return () => query({ text: 'select pg_terminate_backend($1)', values: [rows[0]?.id] });
}

/** Why a backup failed whose process is gone. */
export const stopped = 'the process that made it has ended';

/** Returns why a backup failed, for admins. The log has the whole error. */
export function reasonOf(error: unknown): string {
  if (error instanceof OutOfRoom || error instanceof ArchiveRefused) return error.message;
  if (isDiskFull(error)) return 'archive store full';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^E[A-Z]+$/.test(code)) return `archive store refused the archive: ${code}`;
  return error instanceof Error && error.message === 'the service stops'
    ? stopped
    : 'it failed; the log has the reason';
}
