import { recordAudit } from '@recordbus/audit';
import { findProcessedSequence } from '@recordbus/backup';
import type { Bus } from '@recordbus/bus';
import {
  type Database,
  newId,
  openCommandSession,
  PooledSession,
  type Query,
  takeCommandLock,
} from '@recordbus/database';
import { conflict } from '@recordbus/errors';
import { heartbeat } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import type { Storage } from '@recordbus/storage';
import type pg from 'pg';
import type { BackupPlace } from './backup-place.ts';
import {
  addBackup,
  archiveKey,
  type Backup,
  completeBackup,
  deleteBackup,
  endBackup,
  listRunning,
  measureKept,
  noteBackup,
} from './backup-rows.ts';
import { backupsMaxBytes, OutOfRoom } from './room.ts';
import { type ArchiveInWork, writeArchive } from './write-archive.ts';

interface BackupsDeps {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly bus: Bus;
  readonly log: Logger;
  /** The upload store. */
  readonly storage: Storage;
  readonly place: BackupPlace;
}

/** The request that asks for a backup. */
interface BackupOrigin {
  readonly context: Pick<RequestContext, 'principal' | 'clientAddress'>;
  readonly userAgent: string | undefined;
}

/** The backups that are made through the API. */
export interface Backups {
  /**
   * Starts a backup. Throws 409 while a backup or another command runs, if there is no room for another archive, and if
   * the database is behind a pooler.
   */
  start(origin: BackupOrigin): Promise<Backup>;
  /** Deletes a backup with its archive. A running backup ends. */
  remove(backup: Backup): Promise<void>;
  /** Ends backups whose replica was killed, and removes their remains. */
  tidy(): Promise<void>;
  /** Ends this replica's backup. */
  stop(): Promise<void>;
}

/** The maximum archive count: a stolen admin key must not fill the disk (operation §9.6). */
export const maxKept = 20;

/** How often the progress is noted, in milliseconds. */
const noteMs = 1000;

/** Creates a replica's backups. The command lock lets one run over all replicas and commands. */
export function createBackups({ database, bus, log, storage, place }: BackupsDeps): Backups {
  const { query } = database;
  const { archives } = place;
  let current: { readonly work: ArchiveInWork; readonly ended: Promise<void> } | undefined;

  async function start(origin: BackupOrigin): Promise<Backup> {
    const client = await openSession(place.databaseUrl);
    try {
      for (const lost of await listRunning(query, 'all')) await settle(lost);
      // The command lock is held, so two starts cannot both use the last room.
      const roomBytes = await findRoom();
      const file = `recordbus-${new Date().toISOString().replaceAll(/[-:]|\..*/g, '')}.tar.gz`;
      const processedUpTo = await findProcessedSequence(bus);
      const backup = await addBackup(query, { id: newId(), file, actor: origin.context.principal });
      const files = place.holdsFiles ? storage : undefined;
      const endSession = await sessionEnd(query, client);
      const target = { archives, key: archiveKey(backup), roomBytes, endSession };
      // Without the deployment's secrets: with a stolen admin session, an attacker must not be able to sign tokens.
      const work = writeArchive(client, target, { secret: undefined, key: undefined, files, processedUpTo });
      current = { work, ended: follow(backup, work, client, origin) };
      return backup;
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  /** Returns how many bytes the next archive may have. Throws 409 if there is no room for one. */
  async function findRoom(): Promise<number> {
    const kept = await measureKept(query);
    if (kept.count >= maxKept)
      throw conflict('too_many_backups', `${maxKept} archives are kept: delete one before the next backup`);
    const maxBytes = await place.maxBytes(kept.bytes);
    if (kept.bytes < maxBytes) return maxBytes - kept.bytes;
    const takes = `the archives take ${kept.bytes} of the ${maxBytes} bytes that ${backupsMaxBytes.name} allows`;
    throw conflict('too_many_backups', `${takes}: delete one before the next backup, or raise it`);
  }

  /** Notes a backup's progress and its end. Never rejects. */
  async function follow(backup: Backup, work: ArchiveInWork, client: pg.Client, origin: BackupOrigin): Promise<void> {
    const { id } = backup;
    const endNotes = heartbeat(noteMs, async () => {
      if (!(await noteBackup(query, id, work.measured))) work.stop(new Error('the backup was deleted'));
    });
    try {
      const { tables, rows, files, missing_files, bytes } = await work.done;
      const measured = { tables, rows, files, missing_files: missing_files.length, bytes };
      const details = { tables, rows, files, keys: false };
      const isWanted = await database.transaction(async (own) => {
        if (!(await completeBackup(own, id, measured))) return false;
        await recordAudit(own, { action: 'backups.create', ...origin, target: { type: 'backup', id }, details });
        return true;
      });
      if (!isWanted) await archives.delete(archiveKey(backup));
      log.info({ backup: id, ...measured }, 'a backup is complete');
    } catch (err) {
      log.warn({ backup: id, err }, 'a backup failed');
      await settle(backup, reasonOf(err)).catch((failure) =>
        log.warn({ backup: id, err: failure }, 'cannot note a backup failure'),
      );
    } finally {
      endNotes();
      current = undefined;
      await client.end().catch(() => {});
    }
  }

  /** Ends a backup whose process has ended, possibly after the archive was complete. */
  async function settle(backup: Backup, error = stopped): Promise<void> {
    const key = archiveKey(backup);
    const found = await archives.find(key);
    // If there is no archive, there may be a draft.
    if (!found) await archives.delete(key);
    await endBackup(query, backup.id, { error: found ? null : error, bytes: found?.sizeBytes ?? 0 });
  }

  return {
    start,
    async remove(backup) {
      await deleteBackup(query, backup.id);
      // For a running backup this removes the draft, so it cannot be completed.
      await archives.delete(archiveKey(backup));
    },
    async tidy() {
      for (const lost of await listRunning(query, 'lost')) await settle(lost);
    },
    async stop() {
      current?.work.stop(new Error('the service stops'));
      await current?.ended;
    },
  };
}

const stopped = 'the process that made it has ended';

/** Opens a session with the command lock. */
async function openSession(databaseUrl: string): Promise<pg.Client> {
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
async function sessionEnd(query: Query, client: pg.Client): Promise<() => Promise<unknown>> {
  const { rows } = await client.query<{ id: number }>('select pg_backend_pid() as id');
  return () => query({ text: 'select pg_terminate_backend($1)', values: [rows[0]?.id] });
}

/** Returns why a backup failed, for admins. The log has the whole error. */
function reasonOf(error: unknown): string {
  if (error instanceof OutOfRoom) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'archive store full';
  if (/^E[A-Z]+$/.test(code)) return `archive store refused the archive: ${code}`;
  return error instanceof Error && error.message === 'the service stops'
    ? stopped
    : 'it failed; the log has the reason';
}
